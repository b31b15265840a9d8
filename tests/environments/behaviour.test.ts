import { after } from 'node:test'
import { connect, local } from '@waldo/sdk'
import { EXECUTOR_VARIABLES } from './behaviour/setting.ts'
import { behaviour } from './behaviour.ts'
import { startProxy } from './cutting-proxy.ts'
import { executorEnv, startExecutor } from './executors.ts'
import { scratch, WALDO } from './scratch.ts'

// The executor of the local environment is this process, or a child of it.
Object.assign(process.env, EXECUTOR_VARIABLES)

const state = scratch()
const cwd = state.path
const runtime = { executable: WALDO, stateDir: state.at('local') }
const tcp = await startExecutor({ env: EXECUTOR_VARIABLES })
const unix = await startExecutor({ env: EXECUTOR_VARIABLES, listen: `unix://${state.at('socket')}` })
const proxy = await startProxy(tcp.url, { min: 150, max: 400 })
const args = ['serve', '--listen', 'stdio', '--state-dir', state.at('stdio')]

behaviour({ title: 'on this machine', open: () => local({ cwd, runtime }), inProcess: 'Bun' in globalThis })
behaviour({ title: 'over a WebSocket', open: () => connect(tcp.url) })
behaviour({ title: 'over a unix socket', open: () => connect(unix.url) })
behaviour({
  title: 'behind a command',
  open: () => connect({ program: WALDO, args, env: executorEnv(EXECUTOR_VARIABLES) }),
})
behaviour({ title: 'on a wire that is cut again and again', open: () => connect(proxy.url), cuts: true })

after(async () => {
  await proxy[Symbol.asyncDispose]()
  await tcp[Symbol.asyncDispose]()
  await unix[Symbol.asyncDispose]()
  state[Symbol.dispose]()
})
