import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError } from './errors.ts'
import { sandboxProfiles } from './sandbox-profiles.ts'

const { readOnly, workspaceWrite } = sandboxProfiles

describe('a sandbox profile', () => {
  test('to read is what the client of the reference sends', () => {
    assert.deepEqual(readOnly(), {
      permissions: {
        type: 'managed',
        file_system: {
          type: 'restricted',
          entries: [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }],
        },
        network: 'restricted',
      },
      windowsSandboxLevel: 'disabled',
      useLegacyLandlock: false,
    })
  })

  test('to write in a workspace is what the client of the reference sends', () => {
    const special = (kind: string, access: string) => ({ path: { type: 'special', value: { kind } }, access })
    const guarded = (subpath: string) => ({
      path: { type: 'special', value: { kind: 'project_roots', subpath } },
      access: 'read',
      missing_path_behavior: 'skip',
    })
    assert.deepEqual(workspaceWrite({ roots: ['/srv/work space'] }), {
      permissions: {
        type: 'managed',
        file_system: {
          type: 'restricted',
          entries: [
            special('root', 'read'),
            special('project_roots', 'write'),
            special('slash_tmp', 'write'),
            special('tmpdir', 'write'),
            ...['.git', '.agents', '.codex', '.aws', '.waldo'].map(guarded),
          ],
        },
        network: 'restricted',
      },
      windowsSandboxLevel: 'disabled',
      useLegacyLandlock: false,
      cwd: 'file:///srv/work%20space',
      workspaceRoots: ['file:///srv/work%20space'],
    })
  })

  test('takes paths of any system and URIs, and works in the first', () => {
    const roots = ['/a/b/../c', new URL('file:///d'), 'C:\\e']
    const { cwd, workspaceRoots } = workspaceWrite({ roots })
    assert.deepEqual([cwd, workspaceRoots], ['file:///a/c', ['file:///a/c', 'file:///d', 'file:///C:/e']])
  })

  test('leaves out temporary files, and opens the network, when it is told to', () => {
    const profile = workspaceWrite({ roots: ['/a'], tmp: false, network: 'enabled' })
    assert.doesNotMatch(JSON.stringify(profile), /tmp/)
    assert.match(JSON.stringify(profile), /"network":"enabled"/)
    assert.match(JSON.stringify(readOnly({ network: 'enabled' })), /"network":"enabled"/)
  })

  test('without a root, or with one that is no absolute path, is refused', () => {
    assert.throws(
      () => workspaceWrite({ roots: [] }),
      (error) => ExecError.is(error, 'SANDBOX_INVALID'),
    )
    assert.throws(
      () => workspaceWrite({ roots: ['here'] }),
      (error) => ExecError.is(error, 'SELECTION_INVALID') && /is not absolute/.test(error.message),
    )
  })
})
