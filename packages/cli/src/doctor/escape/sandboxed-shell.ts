import type { LinuxSandbox } from '@waldo/sandbox/linux'
import { prepareProfile } from '../prepare-profile.ts'
import { type Finished, runLaunch } from '../run-launch.ts'
import type { Scene } from './scene.ts'

/** What runs the scripts of the attempts. */
export interface Shell {
  run(script: string, scene: Scene, signal: AbortSignal): Promise<Finished>
}

/** A shell that may write in the workspace of a scene, read everything but one directory, and talk to nobody. */
export class SandboxedShell implements Shell {
  readonly #sandbox: LinuxSandbox

  constructor(sandbox: LinuxSandbox) {
    this.#sandbox = sandbox
  }

  async run(script: string, { workspace, denied, env }: Scene, signal: AbortSignal): Promise<Finished> {
    const prepared = await prepareProfile(this.#sandbox, { network: 'restricted', workspace, denied })
    const command = { program: '/bin/sh', args: ['-c', script], arg0: undefined, cwd: workspace, env }
    return await runLaunch(prepared.launch(command, { terminal: false }), signal)
  }
}
