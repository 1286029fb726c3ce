"""`python -m errata`: the same program as `errata`."""

from errata.cli.door import main

if __name__ == "__main__":
    main()
