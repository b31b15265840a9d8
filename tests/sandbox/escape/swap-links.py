# Leads a link to one place and another in turns, as fast as it can. Arguments: the link, and where it leads. Says when
# it has begun. With two directories and "exchange" the first changes places with the second instead.
import ctypes
import os
import sys

RENAME_EXCHANGE = 2
AT_FDCWD = -100
libc = ctypes.CDLL(None)


def lead(link, target):
    os.symlink(target, link + "~")
    os.rename(link + "~", link)


link, *targets = sys.argv[1:]
print("swapping", flush=True)
while True:
    if targets[0] == "exchange":
        libc.renameat2(AT_FDCWD, link.encode(), AT_FDCWD, targets[1].encode(), RENAME_EXCHANGE)
    else:
        for target in targets:
            lead(link, target)
