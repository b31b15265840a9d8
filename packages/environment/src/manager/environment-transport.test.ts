import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError } from '../errors.ts'
import { transportFromUrl } from './environment-transport.ts'

const url = (text: string) => ({ kind: 'url', url: text }) as const
const invalid = (message: RegExp) => (error: unknown) =>
  ExecError.is(error, 'CONFIG_INVALID') && message.test(error.message)

describe('what a single URL means', () => {
  test('an empty URL means local', () => {
    for (const text of [undefined, '', '  ']) assert.deepEqual(transportFromUrl(text), { kind: 'local' })
  })

  test('creating an environment from `none` is an error that says why', () => {
    for (const text of ['none', ' NONE '])
      assert.throws(() => transportFromUrl(text), invalid(/`none`, which disables/))
  })

  test('a WebSocket or a unix socket is where to connect', () => {
    assert.deepEqual(transportFromUrl(' ws://host:1/x '), url('ws://host:1/x'))
    assert.deepEqual(transportFromUrl('unix:///run/waldo.sock'), url('unix:///run/waldo.sock'))
  })

  test('anything else is refused', () => {
    assert.throws(
      () => transportFromUrl('http://host'),
      invalid(/^environment url `http:\/\/host` must use ws:\/\/ or wss/),
    )
    assert.throws(
      () => transportFromUrl('ws://'),
      invalid(/^environment url `ws:\/\/` is invalid: expected ws:\/\/host/),
    )
    assert.throws(() => transportFromUrl('unix://run'), invalid(/is invalid: expected unix:\/\/\/absolute\/path$/))
  })
})
