# A process of the host with sockets, which nobody from a sandbox may reach or end. Arguments: a directory, a name
# for an abstract socket, and whatever the process is to be recognised by. Prints a line for each visitor, and "quiet"
# for a line of input once all visitors so far are told. Ends with its input.
import select
import socket
import sys


def listen(kind, address):
    made = socket.socket(socket.AF_UNIX, kind)
    made.bind(address)
    if kind == socket.SOCK_STREAM:
        made.listen(50)
    return made


directory, abstract = sys.argv[1:3]
sockets = {
    listen(socket.SOCK_STREAM, directory + "/st.sock"): "stream socket st.sock",
    listen(socket.SOCK_DGRAM, directory + "/dg.sock"): "datagram socket dg.sock",
    listen(socket.SOCK_STREAM, "\0" + abstract): "abstract socket",
}
print("ready", flush=True)
while True:
    readable = select.select([*sockets, sys.stdin], [], [])[0]
    visited = [each for each in readable if each in sockets]
    for each in visited:
        if each.type == socket.SOCK_DGRAM:
            each.recv(65536)
        else:
            each.accept()[0].close()
        print("visit", sockets[each], flush=True)
    if visited:
        continue
    if not sys.stdin.readline():
        break
    print("quiet", flush=True)
