import {
  Component,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { messageOf } from '../api/client.js'
import { connection } from '../api/connection.js'
import { signOut } from '../api/session.js'
import { useSpace } from '../api/space.js'
import { type ConsolePage, PAGES } from '../pages.js'
import { navigate, pageHref, setQuery, useRoute } from '../router.js'
import { Button, classes, IconButton, Link } from '../ui/button.js'
import { Icon } from '../ui/icon.js'
import { Empty, Notice, Skeleton } from '../ui/state.js'
import { Toasts } from '../ui/toast.js'
import { useRestoredFocus } from './focus.js'
import { Help } from './help.js'
import { useShortcuts } from './keys.js'
import { Palette } from './palette.js'
import { useTheme } from './theme.js'

const ICON_URL = new URL('../icon.svg', import.meta.url).href

const IS_MAC = /mac|iphone|ipad/i.test(navigator.userAgent)

/** Frame of all pages: navigation, space picker, banners. */
export function Shell() {
  const { page: id } = useRoute()
  const [isNavOpen, setNavOpen] = useState(false)
  const [dialog, setDialog] = useState<'palette' | 'help'>()
  const page = PAGES.find((candidate) => candidate.id === id)
  const openPalette = () => setDialog('palette')
  const openHelp = useCallback(() => setDialog('help'), [])
  const closeDialog = () => setDialog(undefined)
  useShortcuts({ openPalette, openHelp })
  useRestoredFocus()
  useEffect(() => {
    if (id === '') navigate(pageHref('spaces'), { replace: true })
    document.title = page === undefined ? 'Knowledge Spaces' : `${page.title} · Knowledge Spaces`
    setNavOpen(false)
  }, [id, page])

  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <Navigation currentId={id} isOpen={isNavOpen} onClose={() => setNavOpen(false)} onHelp={openHelp} />
      <div className="column">
        <header className="bar">
          <IconButton
            icon="menu"
            label="Pages"
            className="bar-menu"
            aria-expanded={isNavOpen}
            onClick={() => setNavOpen(!isNavOpen)}
          />
          {page?.hasSpacePicker === true ? <SpacePicker /> : <span className="bar-title">{page?.title}</span>}
          <button type="button" className="bar-search" onClick={openPalette}>
            <Icon name="search" size={16} />
            <span className="bar-search-text">Go to or do</span>
            <kbd>{IS_MAC ? '⌘' : 'Ctrl'} K</kbd>
          </button>
        </header>
        <ConnectionBanner />
        <main id="content" className="content" tabIndex={-1}>
          {/* without a page id, the first page opens in a moment */}
          {id === '' ? <Skeleton /> : <PageBody page={page} />}
        </main>
      </div>
      {dialog === 'palette' && <Palette onClose={closeDialog} onHelp={openHelp} />}
      {dialog === 'help' && <Help onClose={closeDialog} />}
      <Toasts />
    </div>
  )
}

function PageBody({ page }: { page: ConsolePage | undefined }) {
  if (page === undefined)
    return (
      <Empty icon="search" title="There is no such page">
        <Link className="button button-plain" to={pageHref('spaces')}>
          Go to the spaces
        </Link>
      </Empty>
    )
  const { component: Body, id } = page
  return (
    <ErrorBoundary key={id}>
      <Suspense fallback={<Skeleton lines={6} />}>
        <Body />
      </Suspense>
    </ErrorBoundary>
  )
}

interface NavigationProps {
  currentId: string
  /** in a narrow window the navigation overlays the page */
  isOpen: boolean
  onClose: () => void
  onHelp: () => void
}

function Navigation({ currentId, isOpen, onClose, onHelp }: NavigationProps) {
  const { theme, switchTheme } = useTheme()
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const opener = document.activeElement
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      onClose()
      if (opener instanceof HTMLElement) opener.focus()
    }
    nav.current?.querySelector<HTMLElement>('[aria-current]')?.focus()
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [isOpen, onClose])
  return (
    <>
      {isOpen && <button type="button" className="nav-shade" aria-label="Close the navigation" onClick={onClose} />}
      <nav ref={nav} className={classes('nav', isOpen && 'nav-open')} aria-label="Pages">
        <Link className="nav-brand" to={pageHref('spaces')}>
          <img src={ICON_URL} alt="" width="26" height="26" />
          <span>Knowledge Spaces</span>
        </Link>
        <ul className="nav-list">
          {PAGES.map(({ id, title, icon }) => (
            <li key={id}>
              <Link
                className="nav-link"
                to={pageHref(id)}
                aria-current={id === currentId ? 'page' : undefined}
                onClick={onClose}
              >
                <Icon name={icon} />
                <span>{title}</span>
              </Link>
            </li>
          ))}
        </ul>
        <div className="nav-foot">
          <button type="button" className="nav-link" onClick={switchTheme}>
            <Icon name={theme.icon} />
            <span>{theme.title}</span>
          </button>
          <button
            type="button"
            className="nav-link"
            onClick={() => {
              onClose()
              onHelp()
            }}
          >
            <Icon name="help" />
            <span>Keyboard shortcuts</span>
          </button>
          <button type="button" className="nav-link" onClick={signOut}>
            <Icon name="leave" />
            <span>Sign out</span>
          </button>
        </div>
      </nav>
    </>
  )
}

function SpacePicker() {
  const { space, spaces, select } = useSpace()
  const { query } = useRoute()
  const isInUrl = query.has('space')
  useEffect(() => {
    // the URL names its space so that it can be bookmarked and shared
    if (!isInUrl && space !== undefined) setQuery({ space: space.slug }, { replace: true })
  }, [isInUrl, space])
  if (space === undefined) return <span className="bar-title" />
  return (
    <label className="space-picker">
      <span className="sr-only">Space</span>
      <select className="select" value={space.slug} onChange={(event) => select(event.target.value)}>
        {spaces.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Banner while the daemon is unreachable; the page continues when the daemon responds again. */
function ConnectionBanner() {
  const isUnreachable = useSyncExternalStore(connection.subscribe, connection.isUnreachable)
  if (!isUnreachable) return null
  return (
    <div className="banner" role="alert">
      <Icon name="warning" />
      <p>
        The daemon does not answer. <code>ks daemon start</code> starts it; this page reconnects automatically.
      </p>
    </div>
  )
}

/** Shows the error of a page that fails to render; the frame stays. */
class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    const reloadButton = (
      <Button small icon="refresh" onClick={() => location.reload()}>
        Reload
      </Button>
    )
    return (
      <Notice tone="bad" action={reloadButton}>
        <p>This page could not be displayed: {messageOf(error)}</p>
      </Notice>
    )
  }
}
