/** Parses metrics in the Prometheus text format, as the daemon writes them. */

export interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

export type Metrics = ReadonlyMap<string, readonly Sample[]>

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** Parses samples; ignores other lines, which a newer daemon may write. */
export function metricsOf(text: string): Metrics {
  const families = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    const [, name, labels = '', number] = line.startsWith('#') ? [] : (LINE.exec(line) ?? [])
    const value = Number(number)
    if (name === undefined || Number.isNaN(value)) continue
    const samples = families.get(name) ?? []
    samples.push({ labels: labelsOf(labels), value })
    families.set(name, samples)
  }
  return families
}

function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(LABEL)].map(([, name = '', value = '']) => [name, unescaped(value)]))
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, mark) => (mark === 'n' ? '\n' : mark))
}

/** The sum of a family's samples with these labels; undefined if there are none. */
export function sumOf(
  metrics: Metrics,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = Object.entries(labels)
  const found = (metrics.get(name) ?? []).filter((sample) =>
    wanted.every(([key, value]) => sample.labels[key] === value),
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}

/** Cumulative call counts by upper bound in seconds, over all series of a histogram. */
export function bucketsOf(metrics: Metrics, name: string): ReadonlyMap<number, number> {
  const buckets = new Map<number, number>()
  for (const { labels, value } of metrics.get(`${name}_bucket`) ?? []) {
    const most = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)
    buckets.set(most, (buckets.get(most) ?? 0) + value)
  }
  return buckets
}
