import { type Meter, metrics, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import { decisionLabel } from '../approvals/review-decision.ts'
import type { ExecEvent } from './exec-event.ts'

/** Somebody whose events are recorded: a conversation. */
interface EventSource {
  onEvent(listener: (event: ExecEvent) => void): () => void
}

export interface TelemetryOptions {
  /** Those that the program has registered, if nothing is said; they do nothing if it has registered none. */
  readonly tracer?: Tracer
  readonly meter?: Meter
}

/**
 * Tells OpenTelemetry what happens: a span for each process and each patch, counters for questions and sandboxes. What
 * commands say is not part of it, nor what they are. Returns how to stop that.
 */
export function recordTelemetry(source: EventSource, options: TelemetryOptions = {}): () => void {
  const tracer = options.tracer ?? trace.getTracer('waldo.exec')
  const meter = options.meter ?? metrics.getMeter('waldo.exec')
  const approvals = meter.createCounter('waldo.approval.requested', { description: 'Questions, by tool and answer' })
  const decisions = meter.createCounter('waldo.tool.decision', { description: 'Decisions, by tool, answer and source' })
  const outcomes = meter.createCounter('waldo.sandbox.outcome', { description: 'What sandboxes denied, by outcome' })
  const hosts = meter.createCounter('waldo.network.decision', { description: 'Requests of commands, by verdict' })
  const durations = meter.createHistogram('waldo.process.duration', {
    unit: 's',
    description: 'How long processes ran',
  })
  const spans = new Map<string, Span>()
  const finish = (key: string, isError: boolean, attributes: Record<string, string | number>) => {
    const span = spans.get(key)
    spans.delete(key)
    span?.setAttributes(attributes)
    if (isError) span?.setStatus({ code: SpanStatusCode.ERROR })
    span?.end()
  }

  const stop = source.onEvent((event) => {
    const { callId, turnId } = event
    switch (event.type) {
      case 'exec_begin': {
        const { sessionId, environmentId, tty, sandboxed, attempt } = event
        const attributes = { callId, turnId, sessionId, environmentId, tty, sandboxed, attempt }
        spans.set(`exec ${sessionId}`, tracer.startSpan('waldo.exec', { attributes: prefixed(attributes) }))
        break
      }
      case 'exec_end': {
        const { sessionId, state, exitCode, omittedBytes, durationMs } = event
        durations.record(durationMs / 1000, { state })
        finish(`exec ${sessionId}`, state !== 'exited', prefixed({ state, exitCode, omittedBytes }))
        break
      }
      case 'patch_begin': {
        const attributes = { callId, turnId, environmentId: event.environmentId, files: event.files.length }
        spans.set(`patch ${callId}`, tracer.startSpan('waldo.patch', { attributes: prefixed(attributes) }))
        break
      }
      case 'patch_end':
        finish(`patch ${callId}`, !event.success, {})
        break
      case 'approval_decided': {
        const { tool, decision, source, requestId } = event
        const label = decisionLabel(decision)
        decisions.add(1, { tool, decision: label, source })
        if (requestId !== undefined) approvals.add(1, { tool, approved: label.startsWith('approved') })
        break
      }
      case 'sandbox_outcome':
        outcomes.add(1, { tool: event.tool, outcome: event.outcome })
        break
      case 'network_decided':
        hosts.add(1, { allowed: event.allowed })
        break
    }
  })
  return () => {
    stop()
    for (const key of [...spans.keys()]) finish(key, false, {})
  }
}

function prefixed(attributes: Record<string, string | number | boolean>): Record<string, string | number> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`waldo.${name}`, value])) as never
}
