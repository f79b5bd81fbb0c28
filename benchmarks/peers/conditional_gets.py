"""Ask many addresses whether they changed, by their ETag, as somebody would who polls a forge's API.

Called with the address of a server, and how many to ask for.
"""

import sys

import httpx


def main() -> None:
    """Ask each once; every answer must be that nothing changed."""
    base, count = sys.argv[1], int(sys.argv[2])
    with httpx.Client(trust_env=False) as client:
        for number in range(count):
            address = f"{base}/repos/group/project-{number}/commits?per_page=1"
            said = client.get(address, headers={"If-None-Match": '"5f2b"'})
            if said.status_code != httpx.codes.NOT_MODIFIED:
                raise SystemExit(f"{address} says {said.status_code}")


if __name__ == "__main__":
    main()
