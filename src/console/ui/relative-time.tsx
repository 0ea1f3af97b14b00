import { formatAgo, formatMoment } from './format.js'

/** Shows `2 hours ago`, with the exact time as tooltip. @param time ISO 8601, or milliseconds since the epoch */
export function RelativeTime({ time }: { time: string | number }) {
  return (
    <time dateTime={new Date(time).toISOString()} title={formatMoment(time)}>
      {formatAgo(time)}
    </time>
  )
}
