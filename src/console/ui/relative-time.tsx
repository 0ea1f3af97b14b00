import { formatAgo, formatMoment } from './format.js'

/** Shows `2 hours ago`, with the exact time as tooltip. */
export function RelativeTime({ time }: { time: string | number }) {
  return (
    <time dateTime={new Date(time).toISOString()} title={formatMoment(time)}>
      {formatAgo(time)}
    </time>
  )
}
