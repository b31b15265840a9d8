import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ChildSituation, childEnvironment } from './child-environment.ts'

const situation: ChildSituation = {
  policy: {},
  platform: 'linux',
  conversationId: 'talk',
  permissions: { type: 'disabled' },
  isBypass: false,
}
const env = (other: Partial<ChildSituation> = {}) => childEnvironment({ ...situation, ...other }).env

describe('what a command finds in its environment', () => {
  test('is quiet, in one encoding, and says who runs it', () => {
    assert.deepEqual(env(), {
      NO_COLOR: '1',
      TERM: 'dumb',
      COLORTERM: '',
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      GH_PAGER: 'cat',
      WALDO_AGENT: '1',
      LANG: 'C.UTF-8',
      LC_CTYPE: 'C.UTF-8',
      LC_ALL: 'C.UTF-8',
      WALDO_CONVERSATION_ID: 'talk',
    })
  })

  test('is what a user has set, where they have', () => {
    const { TERM, PAGER, LC_ALL } = env({ policy: { set: { TERM: 'xterm', PAGER: 'less' } } })
    assert.deepEqual([TERM, PAGER, LC_ALL], [undefined, undefined, 'C.UTF-8'])
    const german = env({ policy: { set: { LANG: 'de_DE.UTF-8' } } })
    assert.deepEqual([german.LANG, german.LC_CTYPE, german.LC_ALL], [undefined, undefined, undefined])
  })

  test('has no locale on a Mac that is not there', () => {
    assert.equal(env({ platform: 'macos' }).LC_ALL, undefined)
  })

  test('says when there is no network', () => {
    const permissions = { type: 'external', network: 'restricted' } as const
    assert.equal(env({ permissions }).WALDO_NETWORK_DISABLED, '1')
    assert.equal(env({ permissions, isBypass: true }).WALDO_NETWORK_DISABLED, undefined)
    assert.equal(env({ permissions: { ...permissions, network: 'enabled' } }).WALDO_NETWORK_DISABLED, undefined)
  })

  test('has no secrets unless somebody says so', () => {
    const { envPolicy } = childEnvironment(situation)
    assert.deepEqual(envPolicy, {
      inherit: 'all',
      ignoreDefaultExcludes: false,
      exclude: [],
      set: {},
      includeOnly: [],
    })
    const told = childEnvironment({ ...situation, policy: { ignoreDefaultExcludes: true, inherit: 'core' } })
    assert.deepEqual([told.envPolicy.ignoreDefaultExcludes, told.envPolicy.inherit], [true, 'core'])
  })
})
