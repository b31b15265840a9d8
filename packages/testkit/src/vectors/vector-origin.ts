export interface VectorOrigin {
  readonly url: string
  stop(): void
}

/** The web server that vectors talk to. */
export function startVectorOrigin(): VectorOrigin {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const body = await request.text()
      switch (pathname) {
        case '/redirect':
          return new Response('moved', { status: 302, headers: { location: '/echo' } })
        case '/stream':
          return stream(['one', 120, 'two', 120, 'three'])
        case '/slow':
          await Bun.sleep(1500)
          return new Response('late')
        case '/slowbody':
          return stream(['x', 1500, 'y'])
        case '/truncated':
          return new Response(null, { status: 302, headers: { location: truncated.url } })
        case '/empty':
          return new Response(null, { status: 204 })
        default: {
          const sent = ['x-one', 'authorization'].filter((name) => request.headers.has(name))
          const shown = sent.map((name) => `${name}: ${request.headers.get(name)}`)
          return new Response([`${request.method} ${pathname}${search}`, ...shown, body].join('\n'))
        }
      }
    },
  })
  const truncated = startTruncated()
  return {
    url: `http://127.0.0.1:${server.port}`,
    stop() {
      void server.stop(true)
      truncated.stop()
    },
  }
}

/** Texts, and pauses between them in milliseconds. */
function stream(parts: (string | number)[]): Response {
  const body = async function* () {
    for (const part of parts) {
      if (typeof part === 'number') await Bun.sleep(part)
      else yield part
    }
  }
  return new Response(body(), { headers: { 'content-type': 'text/plain' } })
}

/** Promises a hundred bytes, sends four, and hangs up. */
function startTruncated(): VectorOrigin {
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart')
        setTimeout(() => socket.end(), 150)
      },
    },
  })
  return { url: `http://127.0.0.1:${listener.port}/`, stop: () => listener.stop(true) }
}
