import type { ReactNode } from 'react'
import type { PageSpace } from '../api/space.js'
import { pageHref } from '../router.js'
import { Link } from './button.js'
import type { IconName } from './icon.js'
import { PageHead } from './parts.js'
import { Empty, ErrorNotice, Skeleton } from './state.js'

interface NoSpaceProps {
  selection: PageSpace
  icon: IconName
  /** what the page shows of a space */
  children: ReactNode
}

/** A page without a space, with its head. */
export function NoSpacePage({ title, lead, ...rest }: NoSpaceProps & { title: string; lead?: string }) {
  return (
    <>
      <PageHead title={title} lead={lead} />
      <NoSpace {...rest} />
    </>
  )
}

/** Placeholder while no space is available: spaces are loading, failed to load, or do not exist yet. */
export function NoSpace({ selection: { error, isLoading }, icon, children }: NoSpaceProps) {
  if (error !== null && error !== undefined) return <ErrorNotice error={error} />
  if (isLoading) return <Skeleton lines={6} />
  return (
    <Empty icon={icon} title="No spaces yet">
      <p>{children}</p>
      <Link className="button button-primary" to={pageHref('spaces')}>
        Create a space
      </Link>
    </Empty>
  )
}
