import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExecError } from '@waldo/environment'
import { resolveHeaders } from './resolve-headers.ts'

const env = { TOKEN: 'abc', EMPTY: '', openai_api_key: 'k', AWS_SECRET_ACCESS_KEY: 's', NODE_REPL_AUTH_TOKEN: 'n' }
const resolve = (valueEnvVar?: string) => resolveHeaders([{ name: 'X-Auth', value: 'Bearer ', valueEnvVar }], env)

test('a header ends with a variable of the executor, and is then a secret', () => {
  assert.deepEqual(resolve('TOKEN'), [{ name: 'X-Auth', value: 'Bearer abc', secret: true }])
  assert.deepEqual(resolve('NODE_REPL_AUTH_TOKEN'), [{ name: 'X-Auth', value: 'Bearer n', secret: true }])
  assert.deepEqual(resolve(), [{ name: 'X-Auth', value: 'Bearer ' }])
})

test('variables that are missing, empty or forbidden are refused', () => {
  for (const [variable, message] of [
    ['MISSING', 'header X-Auth requires executor environment variable MISSING'],
    ['toString', 'header X-Auth requires executor environment variable toString'],
    ['EMPTY', 'header X-Auth requires a non-empty executor environment variable EMPTY'],
    ['AWS_SECRET_ACCESS_KEY', 'header X-Auth cannot use executor environment variable AWS_SECRET_ACCESS_KEY'],
    ['openai_api_key', 'header X-Auth cannot use executor environment variable openai_api_key'],
    ['Codex_Access_Token', 'header X-Auth cannot use executor environment variable Codex_Access_Token'],
  ] as const) {
    assert.throws(
      () => resolve(variable),
      (error) => ExecError.is(error, 'HTTP_INVALID') && error.message === message,
      variable,
    )
  }
})
