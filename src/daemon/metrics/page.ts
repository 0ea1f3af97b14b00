import type { DurationCounts } from '../../lib/durations.js'

type MetricLabels = Readonly<Record<string, string>>
export type MetricSample = readonly [labels: MetricLabels, value: number]

/** A page in the Prometheus text format, version 0.0.4: families of samples with their types and help texts. */
export class MetricsPage {
  readonly #lines: string[] = []

  /** Adds a family, unless it has no samples. */
  add(type: 'counter' | 'gauge', name: string, help: string, samples: readonly MetricSample[]): void {
    if (samples.length === 0) return
    this.#begin(type, name, help)
    for (const [labels, value] of samples) this.#sample(name, labels, value)
  }

  addDurations(
    name: string,
    help: string,
    all: readonly (readonly [labels: MetricLabels, counts: DurationCounts])[],
  ): void {
    if (all.length === 0) return
    this.#begin('histogram', name, help)
    for (const [labels, { count, totalSeconds, buckets }] of all) {
      for (const { maxSeconds, calls } of buckets)
        this.#sample(`${name}_bucket`, { ...labels, le: String(maxSeconds) }, calls)
      this.#sample(`${name}_bucket`, { ...labels, le: '+Inf' }, count)
      this.#sample(`${name}_sum`, labels, totalSeconds)
      this.#sample(`${name}_count`, labels, count)
    }
  }

  text(): string {
    return `${this.#lines.join('\n')}\n`
  }

  #begin(type: string, name: string, help: string): void {
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
  }

  #sample(name: string, labels: MetricLabels, value: number): void {
    const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`)
    this.#lines.push(`${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`)
  }
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
