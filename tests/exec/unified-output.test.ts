import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inEachPlace, Talk } from './place.ts'

interface Page {
  readonly output: string
  readonly offset: number
  readonly next_offset: number
  readonly total_bytes: number
}
interface Lines {
  readonly lines: readonly { readonly line: number; readonly text: string; readonly isMatch?: boolean }[]
  readonly total_lines?: number
  readonly matches?: number
}

inEachPlace('reading what was said', (place) => {
  async function numbered(talk: Talk, count: number, args: object = {}): Promise<number> {
    await talk.run('exec_command', { cmd: `seq 1 ${count}`, ...args })
    return talk.ofType('exec_begin').at(-1)!.sessionId
  }
  const read = async <T>(talk: Talk, args: object) => {
    const { text, success, structured } = await talk.call('read_output', args)
    assert.ok(success, text)
    return { text, ...(structured as T) }
  }

  /** To the end of it. */
  const grepped = async (talk: Talk, args: object) => {
    const pages: (Lines & { text: string })[] = []
    for (let next: string | undefined = '0'; next !== undefined; ) {
      const page: Lines & { text: string } = await read(talk, { ...args, offset: Number(next) })
      pages.push(page)
      next = /go on with offset (\d+)/.exec(page.text)?.[1]
    }
    return pages
  }

  test('by offset, all of it, piece by piece', async () => {
    await using talk = new Talk(place())
    const session_id = await numbered(talk, 30_000)
    const whole = Array.from({ length: 30_000 }, (_, index) => `${index + 1}\n`).join('')
    let all = ''
    for (let offset = 0; ; ) {
      const page = await read<Page>(talk, { session_id, offset })
      assert.equal(page.offset, offset)
      assert.ok(page.output.length <= 40_000)
      all += page.output
      offset = page.next_offset
      if (offset === page.total_bytes) break
      assert.match(page.text, new RegExp(`Go on with offset ${offset}\n`))
    }
    assert.equal(all, whole)
    const beyond = await read<Page>(talk, { session_id, offset: 1e9 })
    assert.deepEqual([beyond.output, beyond.offset], ['', whole.length])
  })

  test('what an answer leaves out is where it says', async () => {
    await using talk = new Talk(place())
    const { text } = await talk.run('exec_command', { cmd: 'seq 1 30000', max_output_tokens: 100 })
    const [, hint] = /^Full output: read_output (\{.*\})$/m.exec(text)!
    const head = /\n\n(1\n[^…]*)…\d+ tokens truncated…/.exec(text)![1]!
    const args = JSON.parse(hint!) as { session_id: number; offset: number }
    assert.equal(args.offset, head.length)
    const { output } = await read<Page>(talk, args)
    const whole = Array.from({ length: 30_000 }, (_, index) => `${index + 1}\n`).join('')
    assert.ok(whole.startsWith(head + output))
  })

  test('also of a later answer', async () => {
    await using talk = new Talk(place())
    const cmd = 'echo first; read -r _; seq 1 5000'
    const session_id = await talk.start(cmd, { tty: true, until: { match: 'first' } })
    const args = { session_id, chars: '\n', until: 'exit', max_output_tokens: 50 }
    const { text } = await talk.run('write_stdin', args)
    const { offset } = JSON.parse(/^Full output: read_output (\{.*\})$/m.exec(text)![1]!) as { offset: number }
    const { output } = await read<Page>(talk, { session_id, offset, max_output_tokens: 10 })
    const [, shown] = /\n\n([^…]*)…/.exec(text)!
    const whole = await read<Page>(talk, { session_id, offset: 0 })
    assert.ok(whole.output.includes(shown! + output))
  })

  test('by lines, from the beginning and from the end', async () => {
    await using talk = new Talk(place())
    const session_id = await numbered(talk, 500)
    const last = await read<Lines>(talk, { session_id, lines: { from: -2 } })
    assert.deepEqual(
      last.lines.map(({ text }) => text),
      ['499', '500'],
    )
    assert.match(last.text, /^2 of 500 lines\nOutput:\n499: 499\n500: 500$/)
    const some = await read<Lines>(talk, { session_id, lines: { from: 10, count: 2 } })
    assert.match(some.text, /^2 of 500 lines\nGo on with line 12\nOutput:\n10: 10\n11: 11$/)
    const few = await read<Lines>(talk, { session_id, lines: { from: 1, count: 400 }, max_output_tokens: 10 })
    const [, next] = /Go on with line (\d+)/.exec(few.text)!
    assert.equal(Number(next), few.lines.length + 1)
    assert.ok(few.lines.length < 10)
  })

  test('by pattern, with what is around it', async () => {
    await using talk = new Talk(place())
    const session_id = await numbered(talk, 500)
    const { text, matches } = await read<Lines>(talk, { session_id, grep: '^25[01]$', context: 1 })
    assert.equal(matches, 2)
    assert.ok(text.endsWith('Output:\n 249: 249\n>250: 250\n>251: 251\n 252: 252'))
    const pages = await grepped(talk, { session_id, grep: '7', max_output_tokens: 100 })
    assert.ok(pages.length > 1)
    const found = pages.reduce((sum, { matches }) => sum + matches!, 0)
    assert.equal(found, 95)
  })

  test('while it runs, and after more was said than is kept', async () => {
    await using talk = new Talk(place())
    const cmd = 'seq 1 2000000; echo the end; exec sleep 1000'
    const args = { until: { match: '^the end$' }, yield_time_ms: 60_000, max_output_tokens: 10 }
    const session_id = await talk.start(cmd, args)
    const pages = await grepped(talk, { session_id, grep: '^the end$' })
    assert.match(pages[0]!.text, /bytes before that are no longer kept/)
    assert.match(pages.at(-1)!.text, />2000001: the end$/)
    const last = await read<Lines>(talk, { session_id, lines: { from: -1 } })
    assert.deepEqual(
      last.lines.map(({ line, text }) => [line, text]),
      [[2_000_001, 'the end']],
    )
    const page = await read<Page>(talk, { session_id, offset: 0 })
    assert.ok(page.offset > 0)
  })

  test('what makes no sense is told so', async () => {
    await using talk = new Talk(place())
    const session_id = await numbered(talk, 3)
    for (const wrong of [
      { offset: -1 },
      { lines: { from: 0 } },
      { lines: { from: 1, count: 0 } },
      { lines: {} },
      { lines: { from: 1 }, grep: 'x' },
      { lines: { from: 1 }, offset: 5 },
      { context: 1 },
      { grep: '(' },
      { grep: 'x', context: -1 },
      { grep: 'x', context: 1e9 },
      { max_output_tokens: -1 },
      { offset: '0' },
    ]) {
      assert.match(
        await talk.refusal('read_output', { session_id, ...wrong }),
        /read_output|function arguments|max_out/,
      )
    }
    const some = await read<Lines>(talk, { session_id, lines: { from: 1, count: null } })
    assert.equal(some.lines.length, 3)
    const nothing = await read<Page>(talk, { session_id, max_output_tokens: 0 })
    assert.ok(nothing.next_offset > 0)
  })
})
