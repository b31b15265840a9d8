import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MacSandbox } from './mac-sandbox.ts'
import { probeSeatbelt } from './probe-seatbelt.ts'

const isMac = process.platform === 'darwin'
const probe = () => probeSeatbelt(new MacSandbox({ hidden: () => [] }))

describe('whether there is Seatbelt', () => {
  test('is found out by running something in it', { skip: !isMac && 'Seatbelt is there on macOS only' }, () => {
    assert.deepEqual(probe(), { available: true, mechanism: 'seatbelt' })
  })

  test('is told with a reason and a remedy where there is none', { skip: isMac && 'there is Seatbelt here' }, () => {
    const { available, reason, remedy } = probe()
    assert.equal(available, false)
    assert.equal(reason, '/usr/bin/sandbox-exec is missing')
    assert.match(remedy!, /macOS/)
  })
})
