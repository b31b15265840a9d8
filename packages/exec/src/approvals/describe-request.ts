import { ruleText } from '../policy/amendment.ts'
import type { ApprovalRequest } from './approver.ts'
import { describePath } from './describe-path.ts'
import { describeSandbox } from './describe-sandbox.ts'
import { describeSubject } from './describe-subject.ts'
import { RequestSheet } from './request-sheet.ts'

const COLUMNS = 80
const MAX_WHYS = 10

/**
 * A question in words, in plain text: what will happen, where, what confines it, why it is asked, and which rule would
 * make it unnecessary. What others wrote cannot leave its place in it: nothing in the text moves a cursor, and no line
 * of theirs is longer than `columns` (of at least 24).
 */
export function describeRequest(request: ApprovalRequest, { columns = COLUMNS }: { columns?: number } = {}): string {
  const { subject, environmentId, isRetry, reason, justification, why } = request
  const sheet = new RequestSheet(columns)
  describeSubject(subject, sheet)
  sheet.field('where', `environment ${environmentId}`)
  if (subject.kind !== 'network') sheet.path('in', describePath(subject.cwd))
  describeSandbox(request, sheet)
  if (isRetry) sheet.field('again', 'it ran before, and was denied something')
  if (reason !== undefined) sheet.field('reason', reason)
  why.slice(0, MAX_WHYS).forEach(({ text, origin, otherwise }, index) => {
    sheet.field(index === 0 ? 'why' : '', origin === undefined ? text : `${text} (${origin})`)
    if (otherwise !== undefined) sheet.field('', `otherwise: ${otherwise}`)
  })
  if (why.length > MAX_WHYS) sheet.field('', `(${why.length - MAX_WHYS} more)`)
  if (justification !== undefined) {
    sheet.field('model', 'says, in its own words, which nobody has checked:')
    sheet.quote('', justification)
  }
  describeRule(request, sheet)
  return sheet.toString()
}

/** What it would do stands in a field of its own: a long rule must not push it away. */
function describeRule({ subject, amendment, decisions }: ApprovalRequest, sheet: RequestSheet): void {
  const effect = 'saved for this project or for you, it spares the question'
  if (amendment) {
    sheet.field('rule', ruleText(amendment))
    sheet.field('', amendment.sandbox === 'bypass' ? `${effect}, and what begins so runs OUTSIDE` : effect)
  } else if (subject.kind === 'network' && decisions.includes('network_policy_amendment')) {
    sheet.field('rule', `allow ${subject.host}`)
    sheet.field('', effect)
  }
}
