import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Access } from '@waldo/protocol'
import { at, bind, FakeHost, special } from '../policy/fixtures/fake-host.ts'
import { RunningRules } from './running-rules.ts'

const host = new FakeHost({ '/a/b/c': '/', '/a/x': '/' })

function rules(...entries: [Access, string][]) {
  const said = entries.map(([access, path]) => ({ path: at(path), access }))
  return bind({ entries: [{ path: special('root'), access: 'read' }, ...said] }, host).files!
}

describe('the rules of running commands', () => {
  const ours = rules(['write', '/a/b'])

  test('let nobody replace anything if none is running, or only some with the same rules', () => {
    const running = new RunningRules()
    assert.equal(running.mayReplace(['/a/b'], ours), false)
    running.add(rules(['write', '/a/b']))
    assert.equal(running.mayReplace(['/a/b', '/a/b/c'], ours), false)
  })

  test('let others replace what is in a directory that they may write to, but not that directory', () => {
    const running = new RunningRules()
    running.add(rules(['write', '/a/b'], ['read', '/a/x']))
    running.add(rules(['write', '/a/b/c']))
    assert.equal(running.mayReplace(['/a', '/a/b', '/a/x'], ours), false)
    assert.equal(running.mayReplace(['/a', '/a/b/c'], ours), true)
  })

  test('count until the last command with them has ended', () => {
    const running = new RunningRules()
    const ends = [running.add(rules(['write', '/a'])), running.add(rules(['write', '/a']))]
    for (const end of ends) {
      assert.equal(running.mayReplace(['/a/b'], ours), true)
      end()
    }
    assert.equal(running.mayReplace(['/a/b'], ours), false)
  })

  test('are none for commands whose files are not restricted: those may replace everything', () => {
    const running = new RunningRules()
    const end = running.add(undefined)
    assert.equal(running.mayReplace(['/a/b'], ours), true)
    assert.equal(running.mayReplace([], ours), false)
    end()
    assert.equal(running.mayReplace(['/a/b'], ours), false)
  })
})
