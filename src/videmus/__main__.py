"""`python -m videmus` is the command `videmus`."""

from videmus.cli import main

main()
