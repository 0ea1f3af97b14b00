import type { ReactNode } from 'react'
import type { SelectedSpace } from '../api/space.js'
import { pageHref } from '../router.js'
import { Link } from './button.js'
import type { IconName } from './icon.js'
import { Empty, ErrorNotice, Skeleton } from './state.js'

interface NoSpaceProps {
  selection: SelectedSpace
  icon: IconName
  /** what the page shows of a space */
  children: ReactNode
}

/** Placeholder of a page while no space is available: it is loading, failed to load, or does not exist yet. */
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
