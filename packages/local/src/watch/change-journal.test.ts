import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangeJournal } from './change-journal.ts'

const changed = (journal: ChangeJournal) =>
  new Promise<void>((resolve) => {
    const stop = journal.onChange(() => {
      stop()
      resolve()
    })
  })

test('a reader can continue from every cursor it was given', async () => {
  const journal = new ChangeJournal(1)
  const cursors = [journal.cursor]
  for (const path of ['/a', '/b', '/a']) {
    journal.add(path, 'modified', false)
    await changed(journal)
    cursors.push(journal.cursor)
  }
  const paths = cursors.map((cursor) => journal.since(cursor).changes.map(({ path }) => path))
  assert.deepEqual(paths, [['/a', '/b'], ['/b', '/a'], ['/a'], []])
  assert.deepEqual([...cursors].sort(), cursors)
  assert.equal(journal.since(cursors[0]!).overflow, false)
})

test('a cursor from the future, from an earlier watch, or from nowhere is an overflow', () => {
  const journal = new ChangeJournal(1)
  for (const cursor of [journal.cursor + 1, journal.cursor - 1, 0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.deepEqual(journal.since(cursor), { cursor: journal.cursor, changes: [], overflow: true })
  }
})

test('the oldest changes are forgotten, and whoever needs them is told so', async () => {
  const journal = new ChangeJournal(1)
  const start = journal.cursor
  for (let n = 0; n < 10_001; n++) journal.add(`/${n}`, 'created', false)
  await changed(journal)
  assert.equal(journal.cursor, start + 10_001)
  assert.equal(journal.since(start).overflow, true)
  const { changes, overflow } = journal.since(start + 1)
  assert.deepEqual([changes.length, overflow], [10_000, false])
})

test('long paths are forgotten earlier', async () => {
  const journal = new ChangeJournal(1)
  const start = journal.cursor
  for (let n = 0; n < 1000; n++) journal.add(`/${n}/${'x'.repeat(4000)}`, 'created', false)
  await changed(journal)
  assert.equal(journal.since(start).overflow, true)
  assert.equal(journal.since(start + 500).changes.length, 500)
})

test('an overflow is told to those who have not seen it, and to nobody else', async () => {
  const journal = new ChangeJournal(1)
  const before = journal.cursor
  journal.overflow()
  const after = journal.cursor
  journal.add('/a', 'created', false)
  await changed(journal)
  assert.equal(journal.since(before).overflow, true)
  assert.deepEqual(journal.since(after), {
    cursor: journal.cursor,
    changes: [{ path: '/a', kind: 'created' }],
    overflow: false,
  })
})
