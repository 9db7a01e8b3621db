"""python -m lmkit is the program lmkit."""

from lmkit.cli.app import main

if __name__ == "__main__":
    main()
