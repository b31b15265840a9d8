import type { Environment } from '@waldo/environment'
import { PLACES, Talk } from '../tests/exec/place.ts'

const ROUNDS = Number(process.argv[2] ?? 500)
/** Until everything is loaded and compiled. */
const WARM_UP = 50

async function plain({ processes }: Environment, argv: readonly string[]): Promise<void> {
  const process = await processes.start(argv)
  for await (const { type } of process.events()) if (type === 'closed') return
}

async function throughConversation(talk: Talk): Promise<void> {
  const { success, text } = await talk.call('exec_command', { cmd: 'true' })
  if (!success) throw new Error(text)
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1]!
}

for (const [where, open] of Object.entries(PLACES)) {
  await using place = await open()
  await using talk = new Talk(place)
  const { shell } = await place.environment.info()
  const bare: number[] = []
  const called: number[] = []
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    // In turn, so that whatever else the machine does is shared by both.
    const times = [
      await timed(() => plain(place.environment, [shell.path, '-c', 'true'])),
      await timed(() => throughConversation(talk)),
    ] as const
    talk.events.length = 0
    if (round < 0) continue
    bare.push(times[0])
    called.push(times[1])
  }
  const [start, call] = [median(bare), median(called)]
  const row = [`start ${start.toFixed(2)} ms`, `call ${call.toFixed(2)} ms`, `overhead ${(call - start).toFixed(2)} ms`]
  process.stdout.write(`${where.padEnd(8)}${row.join('   ')}\n`)
}
