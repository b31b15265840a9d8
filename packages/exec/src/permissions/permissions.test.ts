import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fromPosixPath, type PathUri, type PermissionEntry, type Permissions } from '@waldo/protocol'
import type { ApprovalPolicy } from '../approvals/approval-policy.ts'
import type { InvalidCall } from '../conversation/invalid-call.ts'
import { coversPermissions, resolvePermissions, unitePermissions } from './additional-permissions.ts'
import { callPermissions, type PermissionArguments } from './call-permissions.ts'
import { GrantedPermissions } from './granted-permissions.ts'
import { allButDenials, deniedPaths, isDenied, needsSandbox, permissionsOf, widened } from './sandbox-requests.ts'

const uri = fromPosixPath
const place = { cwd: uri('/work'), workspaceRoots: [uri('/work'), uri('/other')] }
const denied: PermissionEntry[] = [
  { path: { type: 'path', path: uri('/secret') }, access: 'deny' },
  { path: { type: 'glob_pattern', pattern: '**/*.key' }, access: 'deny' },
  { path: { type: 'special', value: { kind: 'project_roots', subpath: 'private' } }, access: 'deny' },
]
const workspace = permissionsOf('workspace')
const closed: Permissions =
  workspace.type === 'managed' && workspace.file_system.type === 'restricted'
    ? {
        ...workspace,
        file_system: { ...workspace.file_system, entries: [...workspace.file_system.entries, ...denied] },
      }
    : assert.fail()

describe('what a call may do', () => {
  const granted = new GrantedPermissions()
  const context = (approvalPolicy: ApprovalPolicy = 'on-request') => {
    const findDenied = async (paths: readonly PathUri[]) => paths.find((path) => isDenied(path, closed, place))
    return { cwd: uri('/work/sub'), approvalPolicy, granted: granted.of('e', 'turn'), findDenied }
  }
  const wrong = (args: PermissionArguments, message: RegExp, policy?: ApprovalPolicy) =>
    assert.rejects(
      callPermissions(args, context(policy)),
      (error: InvalidCall) => error.name === 'InvalidCall' && message.test(error.message),
    )
  const more = 'with_additional_permissions' as const

  test('is nothing more unless it says so', async () => {
    assert.deepEqual(await callPermissions({}, context('never')), { requested: 'use_default', isPreApproved: true })
  })

  test('is asked about if somebody may be', async () => {
    const escalated = { sandbox_permissions: 'require_escalated', justification: 'why' } as const
    assert.deepEqual(await callPermissions(escalated, context()), {
      requested: 'require_escalated',
      isPreApproved: false,
      justification: 'why',
    })
    await wrong(escalated, /approval policy is never; reject command/, 'never')
    await wrong(
      { sandbox_permissions: more, additional_permissions: { network: { enabled: true } } },
      /policy is never/,
      'never',
    )
    const no = { granular: { sandboxApproval: false, rules: true, requestPermissions: true } }
    await wrong(escalated, /approval policy is granular/, no)
  })

  test('does not contradict itself', async () => {
    await wrong({ justification: 'why' }, /requires an explicit `sandbox_permissions`/)
    await wrong({ sandbox_permissions: more }, /missing `additional_permissions`/)
    await wrong({ sandbox_permissions: more, additional_permissions: {} }, /must include at least one/)
    await wrong({ sandbox_permissions: more, additional_permissions: { network: { enabled: false } } }, /at least one/)
    await wrong({ additional_permissions: { network: { enabled: true } } }, /requires `sandbox_permissions`/)
  })

  test('is never what the profile denies', async () => {
    for (const path of ['/secret', '/secret/below', '/work/private/x', '/other/private', '../../secret']) {
      const args = { sandbox_permissions: more, additional_permissions: { file_system: { read: [path] } } }
      await wrong(args, /is denied by the permission profile/)
    }
    assert.ok(!isDenied(uri('/secrets'), closed, place))
    // What was granted when the profile was another one.
    const granted = { network: true, read: [uri('/secret/x'), uri('/in')], write: [uri('/work/private')] }
    const { additional } = await callPermissions({}, { ...context(), granted })
    assert.deepEqual(additional, { network: true, read: [uri('/in')], write: [] })
  })

  test('is what was granted before, as it was granted', async () => {
    const permissions = resolvePermissions({ file_system: { write: ['out'] } }, uri('/work'))!
    assert.deepEqual(permissions, { network: false, read: [], write: [uri('/work/out')] })
    granted.grant('e', permissions, { turnId: 'turn' })
    granted.grant('e', { network: true, read: [], write: [] }, 'conversation')
    const both = { network: true, read: [], write: [uri('/work/out')] }
    assert.deepEqual(await callPermissions({}, context('never')), {
      requested: 'use_default',
      isPreApproved: true,
      additional: both,
    })
    const inline = { sandbox_permissions: more, additional_permissions: { file_system: { read: ['../out'] } } } as const
    assert.deepEqual(await callPermissions(inline, context('never')), {
      requested: more,
      isPreApproved: true,
      additional: both,
    })
    const wider = { sandbox_permissions: more, additional_permissions: { file_system: { read: ['../in'] } } } as const
    assert.deepEqual(await callPermissions(wider, context()), {
      requested: more,
      isPreApproved: false,
      additional: { ...both, read: [uri('/work/in')] },
    })
    assert.deepEqual(granted.of('e', 'another turn'), { network: true, read: [], write: [] })
    granted.endTurn('turn')
    assert.deepEqual(granted.of('e', 'turn'), { network: true, read: [], write: [] })
    assert.equal(granted.of('other', 'turn'), undefined)
  })

  test('unites without saying anything twice', () => {
    const a = { network: false, read: [uri('/a'), uri('/b')], write: [] }
    const b = { network: true, read: [], write: [uri('/b')] }
    const all = unitePermissions(a, b)
    assert.deepEqual(all, { network: true, read: [uri('/a')], write: [uri('/b')] })
    assert.ok(coversPermissions(all, a) && coversPermissions(all, b) && !coversPermissions(a, b))
  })
})

describe('what an executor is asked for', () => {
  test('is a sandbox where something is to be confined', () => {
    const managed = (network: 'enabled' | 'restricted'): Permissions => {
      return { type: 'managed', network, file_system: { type: 'unrestricted' } }
    }
    const rows: [Permissions, boolean, boolean][] = [
      [{ type: 'disabled' }, false, false],
      [{ type: 'disabled' }, true, false],
      [{ type: 'external', network: 'restricted' }, false, false],
      [{ type: 'external', network: 'restricted' }, true, true],
      [managed('enabled'), false, false],
      [managed('enabled'), true, true],
      [managed('restricted'), false, true],
      [workspace, false, true],
    ]
    for (const [permissions, network, expected] of rows) {
      assert.equal(needsSandbox(permissions, network), expected, JSON.stringify({ permissions, network }))
    }
  })

  test('is everything but what must not be read, where nobody can leave altogether', () => {
    assert.deepEqual(deniedPaths(closed), [uri('/secret'), '**/*.key', '<workspace>/private'])
    const everything = allButDenials(closed)
    assert.ok(everything.type === 'managed' && everything.file_system.type === 'restricted')
    assert.deepEqual(everything.network, 'enabled')
    assert.deepEqual(everything.file_system.entries.slice(1), denied)
  })

  test('is the profile and what was added to it', () => {
    const wider = widened(closed, { network: true, read: [uri('/in')], write: [uri('/out')] })
    assert.ok(wider.type === 'managed' && wider.file_system.type === 'restricted')
    assert.equal(wider.network, 'enabled')
    assert.deepEqual(wider.file_system.entries.slice(-2), [
      { path: { type: 'path', path: uri('/in') }, access: 'read' },
      { path: { type: 'path', path: uri('/out') }, access: 'write' },
    ])
    const external: Permissions = { type: 'external', network: 'restricted' }
    assert.deepEqual(widened(external, { network: false, read: [uri('/in')], write: [] }), external)
  })
})
