import type { ApprovalRequest } from './approver.ts'
import { canonicalJson } from './canonical-json.ts'
import { describePermissions } from './describe-permissions.ts'
import type { RequestSheet } from './request-sheet.ts'

/** Of what stays closed: whoever does not see the rest of it takes the sandbox for weaker than it is, not for stronger. */
const MAX_DENIED = 20

export function describeSandbox({ sandbox, subject }: ApprovalRequest, sheet: RequestSheet): void {
  switch (sandbox.kind) {
    case 'inside':
      sheet.field('sandbox', sandbox.thenOutside ? THEN_OUTSIDE : 'inside, as everything else')
      return
    case 'widened':
      // Whoever is asked for permissions alone has just read them.
      if (subject.kind === 'permissions' && canonicalJson(subject.permissions) === canonicalJson(sandbox.permissions)) {
        sheet.field('sandbox', 'inside, with that much MORE than everything else')
        return
      }
      sheet.field('sandbox', 'inside, with MORE than everything else:')
      describePermissions(sandbox.permissions, sheet)
      return
    case 'outside':
      sheet.field('sandbox', 'OUTSIDE: nothing confines it')
      return
    case 'outside-but-denials':
      sheet.field('sandbox', `OUTSIDE, but for what must not be read, whoever allows it: ${listed(sandbox.denied)}`)
      return
  }
}

const THEN_OUTSIDE =
  'inside, then OUTSIDE: if that denies it something, it runs again OUTSIDE, where nothing confines it, without another question'

function listed(denied: readonly string[]): string {
  const more = denied.length - MAX_DENIED
  return denied.slice(0, MAX_DENIED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
