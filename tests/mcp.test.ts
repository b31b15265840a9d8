import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { fetchThrough, RawClient, startServer, type TestServer } from '@waldo/testkit'

let origin: Server
let server: TestServer
let sessions: Map<string, StreamableHTTPServerTransport>

/** Counts, and tells how far it has come while it does. */
function createCounter(): McpServer {
  const mcp = new McpServer({ name: 'counter', version: '1.0.0' })
  mcp.registerTool('count', { description: 'Counts to three' }, async ({ _meta, sendNotification }) => {
    for (let progress = 1; progress <= 3; progress++) {
      const progressToken = _meta?.progressToken
      if (progressToken !== undefined) {
        await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } })
      }
      await Bun.sleep(20)
    }
    return { content: [{ type: 'text', text: 'three' }] }
  })
  return mcp
}

before(async () => {
  sessions = new Map()
  origin = createServer(async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']))
    if (known) return known.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await createCounter().connect(transport)
    await transport.handleRequest(request, response)
  })
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
  server = await startServer()
})
after(async () => {
  await server[Symbol.asyncDispose]()
  origin.closeAllConnections()
  origin.close()
})

describe('an MCP server on the executor’s network', () => {
  test('is used over streamable HTTP: handshake, tools, progress while a tool runs', async () => {
    await using connection = await RawClient.connect(server.url)
    const url = new URL(`http://127.0.0.1:${(origin.address() as AddressInfo).port}/mcp`)
    const transport = new StreamableHTTPClientTransport(url, { fetch: fetchThrough(connection) })
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(transport)
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['count'],
    )
    const progress: number[] = []
    const result = await client.callTool({ name: 'count' }, undefined, {
      onprogress: (update) => void progress.push(update.progress),
    })
    assert.deepEqual(result.content, [{ type: 'text', text: 'three' }])
    assert.deepEqual(progress, [1, 2, 3])
    await client.close()
  })
})
