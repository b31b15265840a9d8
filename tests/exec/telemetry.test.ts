import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { scriptedApprover } from '@waldo/exec'
import { recordTelemetry } from '@waldo/exec/telemetry'
import { PLACES, Talk } from './place.ts'

test('what a conversation does is told to OpenTelemetry, without a word of what is said in it', async () => {
  const spans = new InMemorySpanExporter()
  const figures = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const reader = new PeriodicExportingMetricReader({ exporter: figures, exportIntervalMillis: 60_000 })
  const meters = new MeterProvider({ readers: [reader] })
  await using place = await PLACES.local()
  await using talk = new Talk(place, {
    approvers: [scriptedApprover([{ kind: 'approved' }, { kind: 'denied' }])],
    settings: { approvalPolicy: 'untrusted' },
  })
  const stop = recordTelemetry(talk.conversation, { tracer: tracers.getTracer('test'), meter: meters.getMeter('test') })
  await talk.run('exec_command', { cmd: 'echo secret-word; exit 3' })
  await talk.call('exec_command', { cmd: 'echo refused' })
  stop()
  await meters.forceFlush()

  const [span, ...others] = spans.getFinishedSpans()
  assert.deepEqual(others, [])
  assert.equal(span!.name, 'waldo.exec')
  assert.equal(span!.attributes['waldo.exitCode'], 3)
  assert.ok(!JSON.stringify(span!.attributes).includes('secret-word'))
  const metrics = figures.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  const points = (name: string) => metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
  assert.deepEqual(
    points('waldo.approval.requested').map(({ attributes, value }) => ({ ...attributes, value })),
    [
      { tool: 'exec_command', approved: true, value: 1 },
      { tool: 'exec_command', approved: false, value: 1 },
    ],
  )
  assert.equal(points('waldo.process.duration').length, 1)
  await meters.shutdown()
  await tracers.shutdown()
})
