import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseCommand } from './parse-command.ts'

const flags = { environment: 'text', env: 'texts', tty: 'switch', json: 'switch', help: 'switch' } as const
const letters = { e: 'environment', t: 'tty', j: 'json' } as const
const parse = (args: string[], commandFollows = false) =>
  parseCommand(args, { flags, letters, commandFollows, help: 'read the manual' })

describe('a command line', () => {
  test('has flags in any order with operands', () => {
    assert.deepEqual(parse(['a', '--env', 'X=1', 'b', '--env=Y=2', '-', '-t']), {
      flags: { env: ['X=1', 'Y=2'], tty: true },
      operands: ['a', 'b', '-'],
      rest: undefined,
    })
  })

  test('has letters alone, together, and with their value attached', () => {
    for (const args of [['-t', '-j', '-e', 'x'], ['-tj', '-ex'], ['-tje', 'x'], ['-tjex']]) {
      assert.deepEqual(parse(args).flags, { tty: true, json: true, environment: 'x' }, args.join(' '))
    }
  })

  test('leaves alone what is for somebody else', () => {
    const rest = ['ls', '-t', '--', '--help']
    assert.deepEqual(parse(['-t', ...rest], true), { flags: { tty: true }, operands: [], rest })
    assert.deepEqual(parse(['a', '--', ...rest]), { flags: {}, operands: ['a'], rest })
    assert.deepEqual(parse(['-e', '-t', 'x'], true), { flags: { environment: '-t' }, operands: [], rest: ['x'] })
  })

  test('with something unknown or missing is refused', () => {
    assert.throws(() => parse(['-x']), /unknown option `-x`/)
    assert.throws(() => parse(['-tx']), /unknown option `-x`/)
    assert.throws(() => parse(['--constructor']), /unknown option `--constructor`/)
    assert.throws(() => parse(['--tty=1']), /--tty takes no value/)
    assert.throws(() => parse(['-e']), /--environment needs a value/)
    assert.throws(() => parse(['-ea', '-eb']), /--environment is given twice/)
  })
})
