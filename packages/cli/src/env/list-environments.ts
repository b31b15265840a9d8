import type { ConfiguredEnvironment } from '@waldo/environment'
import { Environments } from '../environments.ts'
import { print } from '../print.ts'

/** What there is to choose from. Asks nobody. */
export async function listEnvironments(json: boolean): Promise<number> {
  await using environments = await Environments.open()
  const { snapshot, ids } = environments
  const rows = ids.map((id) => {
    const configured = snapshot.environments.find((environment) => environment.id === id)
    const transport = configured ? transportOf(configured) : 'this machine'
    return { id, default: id === snapshot.default, transport, cwd: configured ? cwdOf(configured) : process.cwd() }
  })
  if (json) print(JSON.stringify(rows))
  else print(table(rows.map((row) => [`${row.default ? '*' : ' '} ${row.id}`, row.transport, row.cwd ?? ''])))
  return 0
}

/** Never the token. */
function transportOf({ transport }: ConfiguredEnvironment): string {
  switch (transport.kind) {
    case 'local':
      return 'this machine'
    case 'url':
      return transport.url
    case 'command':
      return [transport.program, ...transport.args]
        .map((word) => (/[\s'"]/.test(word) ? JSON.stringify(word) : word))
        .join(' ')
  }
}

/** Where commands start, if that is configured; null: the executor decides. */
function cwdOf({ cwd }: ConfiguredEnvironment): string | null {
  return cwd ?? null
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
