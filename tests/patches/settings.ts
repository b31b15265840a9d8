import type { Environment } from '@waldo/environment'
import { connect, local } from '@waldo/sdk'
import { type Executor, startExecutor } from '../environments/executors.ts'
import { scratch, WALDO } from '../environments/scratch.ts'

/** Where patches are applied. */
interface PatchSetting {
  readonly title: string
  readonly environment: Environment
}

interface PatchSettings extends AsyncDisposable {
  readonly all: readonly PatchSetting[]
  readonly executor: Executor
}

/** This machine, and another one behind a WebSocket. */
export async function openSettings(): Promise<PatchSettings> {
  const state = scratch()
  const executor = await startExecutor()
  const all = [
    {
      title: 'on this machine',
      environment: local({ runtime: { executable: WALDO, stateDir: state.path } }),
    },
    { title: 'over a WebSocket', environment: connect(executor.url) },
  ]
  return {
    all,
    executor,
    async [Symbol.asyncDispose]() {
      for (const { environment } of all) await environment.close()
      await executor[Symbol.asyncDispose]()
      state[Symbol.dispose]()
    },
  }
}
