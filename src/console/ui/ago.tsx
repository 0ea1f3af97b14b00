import { formatAgo, formatMoment } from './format.js'

/** `2 hours ago`, with the very moment where one rests on it. */
export function Ago({ time }: { time: string | number }) {
  return (
    <time dateTime={new Date(time).toISOString()} title={formatMoment(time)}>
      {formatAgo(time)}
    </time>
  )
}
