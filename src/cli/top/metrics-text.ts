/** Parses metrics in the Prometheus text format, as the daemon writes them. */

export interface PrometheusSample {
  labels: Readonly<Record<string, string>>
  value: number
}

export type PrometheusMetrics = ReadonlyMap<string, readonly PrometheusSample[]>

const SAMPLE_LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL_PAIR = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** Parses samples; ignores other lines, which a newer daemon may write. */
export function parseMetrics(text: string): PrometheusMetrics {
  const families = new Map<string, PrometheusSample[]>()
  for (const line of text.split('\n')) {
    const [, name, labels = '', number] = line.startsWith('#') ? [] : (SAMPLE_LINE.exec(line) ?? [])
    const value = Number(number)
    if (name === undefined || Number.isNaN(value)) continue
    const samples = families.get(name) ?? []
    samples.push({ labels: parseLabels(labels), value })
    families.set(name, samples)
  }
  return families
}

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(LABEL_PAIR)].map(([, name = '', value = '']) => [name, unescapeLabel(value)]),
  )
}

function unescapeLabel(text: string): string {
  return text.replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character))
}

/** The sum of a family's samples with these labels; undefined if there are none. */
export function sumSamples(
  metrics: PrometheusMetrics,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const requiredLabels = Object.entries(labels)
  const matching = (metrics.get(name) ?? []).filter((sample) =>
    requiredLabels.every(([key, value]) => sample.labels[key] === value),
  )
  return matching.length === 0 ? undefined : matching.reduce((sum, { value }) => sum + value, 0)
}

/** Cumulative call counts by upper bound in seconds, over all series of a histogram. */
export function sumBuckets(metrics: PrometheusMetrics, name: string): ReadonlyMap<number, number> {
  const buckets = new Map<number, number>()
  for (const { labels, value } of metrics.get(`${name}_bucket`) ?? []) {
    const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)
    buckets.set(bound, (buckets.get(bound) ?? 0) + value)
  }
  return buckets
}
