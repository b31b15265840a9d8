import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError } from '@waldo/environment'
import { RemoteError } from '@waldo/rpc'
import { fromWireError } from './from-wire-error.ts'

const codeOf = (code: number, message: string, data: unknown, method: string) => {
  const error = fromWireError(new RemoteError(code, message, data), method)
  assert.ok(ExecError.is(error))
  return error.code
}

describe('a refusal', () => {
  test('because of a sandbox is told from others, whatever was asked for', () => {
    for (const method of ['process/start', 'fs/writeFile']) {
      assert.equal(codeOf(-32602, 'no', { kind: 'sandboxUnavailable' }, method), 'SANDBOX_UNAVAILABLE')
      assert.equal(codeOf(-32600, 'no', { kind: 'sandboxUnenforceable' }, method), 'SANDBOX_INVALID')
      assert.equal(codeOf(-32602, 'no', { kind: 'sandboxInvalid' }, method), 'SANDBOX_INVALID')
    }
  })

  test('that says anything else besides is what its number, or the system, says', () => {
    for (const data of [undefined, null, 7, 'sandboxInvalid', [], {}, { kind: 'constructor' }, { kind: {} }]) {
      assert.equal(codeOf(-32602, 'no', data, 'process/start'), 'REFUSED')
      assert.equal(codeOf(-32603, 'Read-only file system (os error 30)', data, 'fs/writeFile'), 'FILE_DENIED')
    }
  })
})
