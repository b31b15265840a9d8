import { ruleText } from '../policy/amendment.ts'
import type { ApprovalRequest, SandboxOutlook } from './approver.ts'
import { describePath, describePermissions, describeSubject, listed } from './describe-subject.ts'
import { RequestSheet } from './request-sheet.ts'

const COLUMNS = 80
const MAX_WHYS = 10

/**
 * A question in words, in plain text: what will happen, where, what confines it, why it is asked, and which rule would
 * make it unnecessary. What others wrote cannot leave its place in it: nothing in the text moves a cursor, and no line
 * of theirs is longer than `columns` (of at least 24).
 */
export function describeRequest(request: ApprovalRequest, { columns = COLUMNS }: { columns?: number } = {}): string {
  const { subject, environmentId, sandbox, isRetry, reason, why } = request
  const sheet = new RequestSheet(columns)
  describeSubject(subject, sheet)
  const place = subject.kind === 'network' ? '' : `, ${describePath(subject.cwd)}`
  sheet.field('where', `environment ${environmentId}${place}`)
  sheet.field('sandbox', describeSandbox(sandbox))
  if (isRetry) sheet.field('again', 'it ran before, and was denied something')
  if (reason !== undefined) sheet.field('reason', reason)
  why.slice(0, MAX_WHYS).forEach(({ text, origin, otherwise }, index) => {
    sheet.field(index === 0 ? 'why' : '', origin === undefined ? text : `${text} (${origin})`)
    if (otherwise !== undefined) sheet.field('', `otherwise: ${otherwise}`)
  })
  if (why.length > MAX_WHYS) sheet.field('', `(${why.length - MAX_WHYS} more)`)
  const rule = describeRule(request)
  if (rule !== undefined) sheet.field('rule', `${rule}\nsaved for this project or for you, it spares the question`)
  return sheet.toString()
}

function describeSandbox(outlook: SandboxOutlook): string {
  switch (outlook.kind) {
    case 'inside':
      return 'inside, as everything else'
    case 'widened':
      return `inside, and it may also ${describePermissions(outlook.permissions).join('; ')}`
    case 'outside':
      return 'OUTSIDE: nothing confines it'
    case 'outside-but-denials':
      return `OUTSIDE, but for what must not be read, whoever allows it: ${listed(outlook.denied)}`
  }
}

function describeRule({ subject, amendment, decisions }: ApprovalRequest): string | undefined {
  if (amendment) return ruleText(amendment)
  if (subject.kind === 'network' && decisions.includes('network_policy_amendment')) return `allow ${subject.host}`
  return undefined
}
