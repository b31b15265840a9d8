import { writeSync } from 'node:fs'
import { createMemoryFile } from '../libc.ts'
import type { SessionObserver } from './process-tree.ts'

const MARK = 'WALDO_EXECUTOR'
/** One watched session in the list: seven digits, the most that a Linux pid has, and a line feed. */
const RECORD_BYTES = 8

/**
 * Waits for the end of its input, which is the death of the server; then ends whoever is in one of the sessions that
 * descriptor 3 lists, and their descendants in sessions of their own. What watches over a sandbox ends with the server
 * by itself, and what it watches over with it; but if that happens while the sandbox is being made, something stays
 * whose ties are cut already: it is known by the variable that it was started with. Only what every shell has built in,
 * and `sleep`.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM
mark=\${1:?}
while read -r nothing; do :; done
while read -r session; do
  [ -z "$session" ] || eval "watched_$session=1"
done <&3
# Signal 0 only looks: a child may come before its parent, and the family must be known before its ties are cut.
for signal in 0 0 TERM KILL KILL KILL; do
  for stat in /proc/[0-9]*/stat; do
    line=
    while IFS= read -r part || [ -n "$part" ]; do line="$line $part"; done < "$stat"
    # After the name, which is in brackets: state, parent, group, session.
    set -- \${line##*) }
    case $2$4 in '' | *[!0-9]*) continue ;; esac
    eval "watched=\\\${watched_$4-}\\\${member_$2-}"
    marked=
    if [ -z "$watched" ]; then
      # What cannot be read must not be taken for what was read before.
      variable=
      IFS= read -r variable < "\${stat%stat}environ"
      case $variable in "$mark"*) watched=1 marked=1 ;; esac
    fi
    [ -n "$watched" ] && [ "$1" != Z ] || continue
    pid=\${stat#/proc/}
    pid=\${pid%/stat}
    # It answers for itself, and for nobody who happens to be in its session.
    [ -n "$marked" ] || eval "watched_$4=1"
    eval "member_$pid=1"
    kill -s "$signal" "$pid"
  done 2>/dev/null
  # Not "until nobody is left": who was being started at that moment does not have its mark before it is what it becomes.
  [ "$signal" = 0 ] || sleep 0.5
done
`

/**
 * A tiny helper that outlives us. Nothing tells a process that the one which started it was killed with SIGKILL; but
 * the helper's input ends at that moment, and it ends the processes that we were running. It sleeps until then: who is
 * to be ended stands in a list in shared memory, so that starting a process costs one small write.
 */
export class Watchdog implements SessionObserver {
  readonly #list = createMemoryFile()
  readonly #token = crypto.randomUUID()
  readonly #places = new Map<number, number>()
  readonly #free: number[] = []
  #helper: Bun.Subprocess | undefined
  #closed = false

  get pid(): number | undefined {
    return this.#helper?.pid
  }

  /** For the environment of what watches over a sandbox. */
  get mark(): Readonly<Record<string, string>> {
    return { [MARK]: this.#token }
  }

  watch(session: number): void {
    if (this.#list === undefined || this.#places.has(session)) return
    // The places in use and the free ones are as many as the list is long.
    const place = this.#free.pop() ?? this.#places.size
    this.#places.set(session, place)
    this.#note(place, String(session))
    this.#helper ??= this.#start(this.#list)
  }

  forget(session: number): void {
    const place = this.#places.get(session)
    if (place === undefined) return
    this.#places.delete(session)
    this.#free.push(place)
    this.#note(place, '')
  }

  /** Lets the helper go, without ending anybody who is still on the list. */
  close(): void {
    this.#closed = true
    this.#helper?.kill('SIGKILL')
    this.#helper = undefined
  }

  #note(place: number, text: string): void {
    writeSync(this.#list!, `${text.padEnd(RECORD_BYTES - 1)}\n`, place * RECORD_BYTES)
  }

  #start(list: number): Bun.Subprocess | undefined {
    if (this.#closed) return undefined
    const helper = Bun.spawn(['/bin/sh', '-c', SCRIPT, 'waldo-watchdog', `${MARK}=${this.#token}`], {
      cwd: '/',
      env: { PATH: '/bin:/usr/bin' },
      stdio: ['pipe', 'ignore', 'ignore', list],
      // A Ctrl-C that is meant for the server must not reach it.
      detached: true,
      onExit: () => {
        // Somebody has killed it: the next process to start brings a new one, which finds the list as it is.
        if (this.#helper === helper) this.#helper = undefined
      },
    })
    helper.unref()
    return helper
  }
}
