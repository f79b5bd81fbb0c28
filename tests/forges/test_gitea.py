"""What only Gitea and Forgejo do."""


def test_labels_are_numbers(asking):
    """Known ones are used, others made, each once."""
    gitea = asking("gitea")
    gitea.fake.repository.labels = [f"label {number}" for number in range(70)]
    forge = gitea.forge()
    assert ("label 69", "new") == forge.open_issue("Bump", "body", ["label 69", "new"]).labels
    assert ("new",) == forge.open_issue("Bump", "body", ["new"]).labels
    assert 71 == len(gitea.fake.repository.labels)


def test_a_label_that_may_not_be_made(asking):
    """Is left out: the issue matters more."""
    gitea = asking("gitea")
    gitea.fake.fault(403, {"message": "only writers make labels"}, method="POST", times=1)
    assert () == gitea.forge().open_issue("Bump", "body", ["new"]).labels


def test_a_branch_that_is_deleted_keeps_its_name(asking):
    """As the label of the pull request."""
    gitea = asking("gitea")
    gitea.fake.repository.add(title="Bump", head="bump/gone", base="main", state="closed", closed_by="alice")
    assert "bump/gone" == gitea.forge().pull(1).head


def test_no_log_of_refs(asking):
    """Nothing is asked."""
    gitea = asking("gitea")
    assert () == gitea.forge().ref_events("refs/heads/main")
    assert [] == gitea.fake.asked
