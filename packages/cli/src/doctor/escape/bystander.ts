/** How long it may take to answer, on a machine that is busy. */
const ANSWER_MS = 2000

/** A process of this machine that has nothing to do with anybody, and answers when it is asked. */
export class Bystander implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'ignore'>

  /** It has the token in its arguments and in its environment. */
  constructor(token: string) {
    // It ends with its input, which ends with us.
    this.#child = Bun.spawn(['/bin/sh', '-c', 'while read -r line; do echo "$line"; done', `bystander-${token}`], {
      env: { WALDO_DOCTOR_SECRET: token },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    })
  }

  get pid(): number {
    return this.#child.pid
  }

  /** Whether it is as well as before. To be looked at would not do: who has just been killed may seem to be alive. */
  async isWell(): Promise<boolean> {
    const reader = this.#child.stdout.getReader()
    const patience = setTimeout(() => this.#child.kill('SIGKILL'), ANSWER_MS)
    try {
      this.#child.stdin.write('well?\n')
      await this.#child.stdin.flush()
      return !(await reader.read()).done
    } catch (error) {
      // There is nobody to read it.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
      return false
    } finally {
      clearTimeout(patience)
      reader.releaseLock()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#child.exited
  }
}
