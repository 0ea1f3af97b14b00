import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { messageOf, RequestError, UnreachableError } from '../api/client.js'
import { Button } from './button.js'
import { Icon, type IconName } from './icon.js'

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent'

export function Badge({ tone = 'neutral', children, title }: { tone?: Tone; children: ReactNode; title?: string }) {
  return (
    <span className={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  )
}

/** Placeholder of an empty list: what it will contain and what to do. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <span className="empty-mark">
        <Icon name={icon} size={28} />
      </span>
      <h2>{title}</h2>
      <div className="empty-body">{children}</div>
    </div>
  )
}

/** Placeholder lines while text is loading. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are identical
        <span key={index} className="skeleton-line" />
      ))}
    </div>
  )
}

/** Message about the content that is shown. */
export function Notice({
  tone = 'neutral',
  children,
  action,
}: {
  tone?: Tone
  children: ReactNode
  action?: ReactNode
}) {
  return (
    <div className={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : 'note'}>
      <div className="notice-body">{children}</div>
      {action}
    </div>
  )
}

/** Lists why results are degraded, in the daemon's words. */
export function DegradedNotice({ reasons }: { reasons: readonly string[] | undefined }) {
  if (reasons === undefined || reasons.length === 0) return null
  return (
    <Notice tone="warn">
      {reasons.map((reason) => (
        <p key={reason}>{toSentence(reason)}</p>
      ))}
    </Notice>
  )
}

/** `the topics: still being made` → `The topics: still being made.` */
function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

/** Shows an error in the daemon's words. */
export function ErrorNotice({ error, retry }: { error: unknown; retry?: () => void }) {
  // the banner above the page reports this, and the page continues automatically
  if (error instanceof UnreachableError) return <Skeleton />
  // retrying does not help if the request is refused or the item does not exist
  const isFinal = error instanceof RequestError && error.status < 500 && error.status !== 409 && error.status !== 429
  const retryButton =
    retry === undefined || isFinal ? undefined : (
      <Button small icon="refresh" onClick={retry}>
        Try again
      </Button>
    )
  return (
    <Notice tone="bad" action={retryButton}>
      <p>{messageOf(error)}</p>
      {error instanceof RequestError && error.traceId !== undefined && error.status >= 500 && (
        <p className="faint">
          Trace <code>{error.traceId}</code>
        </p>
      )}
    </Notice>
  )
}

/** Renders the data of a query: a skeleton while it loads, the error if it fails. */
export function Loaded<T>({
  query,
  lines,
  children,
}: {
  query: UseQueryResult<T>
  lines?: number
  children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.isError) return <ErrorNotice error={query.error} retry={() => void query.refetch()} />
  return <Skeleton {...(lines === undefined ? {} : { lines })} />
}
