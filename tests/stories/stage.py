"""The stage of all stories of proposals: an upstream with a fix, and a downstream on GitHub that lacks it."""

import httpx

from tests.forges.forgefake import Repository
from tests.stories import kit
from watcher.bumping import bump_plans
from watcher.config import Settings
from watcher.forges import Budget, Forge, forge_of
from watcher.planned import Plan
from watcher.proposing import Done, propose_pulls
from watcher.store import Store
from watcher.upstream.git import Git

GITHUB = "https://github.com/acme/images"
TWO = "A---B---F---C---G   (main)"
"""The upstream with one more fix, G."""
FILES = {
    **kit.FILES,
    "C": {"src/pump.c": "int pump(void) {\n    return leak(1);\n}\n"},
    "G": {"src/engine.c": kit.REPAIRED.replace("flush_pages(", "flush_all(")},
}
MESSAGES = {**kit.MESSAGES, "G": "fix: the last page was not flushed\n\nFixes #44\n"}


class Stage:
    """Git is served from a real repository that takes pushes; who plays GitHub's API is up to the story."""

    api: str
    """Where the API is."""
    http: httpx.Client

    def __init__(self, world) -> None:
        self.world, self.images = world, world.downstream("images", served=True)
        self.oids = world.engine.draw("A---B---F---C   (main)", **kit.STORY)
        self.images.pin("acme/engine", cuda=self.oids["B"], rocm=self.oids["B"])
        self.images.publish()
        self.path = world.server.path("acme/images")
        Git(directory=self.path).run("config", "http.receivepack", "true")

    @property
    def branch(self) -> str:
        """Return the branch that a bump to the fix is pushed to."""
        return f"watcher/bump-engine-{self.oids['F'][:12]}"

    def document(self, **more) -> dict:
        """Return the configuration as people write it: git from the world's server, the API from whoever plays it."""
        document = self.world.document()
        document["downstreams"][0]["repository"] = GITHUB
        document["rewrites"] |= {
            GITHUB: f"{self.world.server.address}/acme/images",
            "https://api.github.com/": f"{self.api}/",
        }
        return document | {"forges": {"github.com": {"token": "env:FORGE_TOKEN"}}, **more}

    def settings(self, **more) -> Settings:
        """Return the configuration."""
        return Settings.model_validate(self.document(**more))

    def forge(self, settings: Settings | None = None) -> Forge:
        """Return the way to ask GitHub."""
        known = settings or self.settings()
        forge = forge_of(GITHUB, known, self.http, budget=Budget(left=200), now=self.world.now)
        assert forge is not None
        return forge

    def plan(self, to: str = "minimal") -> Plan:
        """Plan a bump of both pins."""
        with Store.open(self.world.state) as store:
            [plan] = bump_plans(self.settings(), store, "engine", to, together=True, now=self.world.now)
        return plan

    def propose(self, act, to: str = "minimal", *, plan: Plan | None = None) -> Done:
        """Propose a bump of both pins, as planned before or now."""
        planned, settings = plan or self.plan(to), self.settings()
        forge = self.forge(settings)
        if act is propose_pulls:
            [done] = act(settings, planned, lambda _: forge, lambda _: None)
        else:
            [done] = act(settings, planned, lambda _: forge)
        return done

    def draw_another_fix(self) -> None:
        """Let the upstream repair one more thing."""
        self.oids |= self.world.engine.draw(TWO, files=FILES, messages=MESSAGES)

    def git(self, *args: str) -> str:
        """Ask the downstream's repository."""
        return Git(directory=self.path).run(*args).decode().strip()


class Faked(Stage):
    """The stage with a GitHub that is held to GitHub's own description; its branches are the repository's."""

    def __init__(self, world, asking) -> None:
        super().__init__(world)
        self.repository = Repository(bare=self.path)
        self.github = asking("github", self.repository)
        self.api, self.http = self.github.fake.api, self.github.http
