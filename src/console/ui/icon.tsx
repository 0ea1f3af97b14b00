/** Stroke paths on a grid of 24. */
const STROKES = {
  spaces: 'M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z',
  ask: 'M5 5h14v10h-7l-4 4v-4H5zM9 9h6M9 12h4',
  documents: 'M7 3h7l4 4v14H7zM14 3v4h4M10 12h5M10 16h5',
  quality: 'M4 19h16M6 16l4-5 3 3 5-8M18 6v4M18 6h-4',
  graph:
    'M6 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM18 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM10 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM7.800 6.500l8.300 1.200M6.700 7.900l2.600 8.300M11.300 16.500l5.500-6.900',
  research: 'M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM15.200 15.200 20 20M8 10.500h5M10.500 8v5',
  sources:
    'M12 8c4 0 7-1 7-2.500S16 3 12 3 5 4 5 5.500 8 8 12 8zM5 5.500v13C5 20 8 21 12 21s7-1 7-2.500v-13M5 12c0 1.500 3 2.500 7 2.500s7-1 7-2.500',
  operations:
    'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM12 3v3M12 18v3M3 12h3M18 12h3M5.600 5.600l2.200 2.200M16.200 16.200l2.200 2.200M5.600 18.400l2.200-2.200M16.200 7.800l2.200-2.200',
  chat: 'M4 5h11v8H9l-3 3v-3H4zM17 9h3v8h-2v3l-3-3h-4',
  search: 'M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM15.200 15.200 20 20',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  close: 'M6 6l12 12M18 6 6 18',
  check: 'M5 12.500l4.500 4.500L19 7.500',
  warning: 'M12 4 3 19h18zM12 10v4M12 16.500v.5',
  upload: 'M12 16V5M7.500 9.500 12 5l4.500 4.500M4 16v3h16v-3',
  download: 'M12 5v11M7.500 11.500 12 16l4.500-4.500M4 19h16',
  refresh: 'M19 12a7 7 0 1 1-2-4.900M19 4v4h-4',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.500 11v5M13.500 11v5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  back: 'M14 6l-6 6 6 6',
  next: 'M10 6l6 6-6 6',
  down: 'M6 10l6 6 6-6',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2.500v2M12 19.500v2M2.500 12h2M19.500 12h2M5.300 5.300l1.400 1.400M17.300 17.300l1.400 1.400M5.300 18.700l1.400-1.400M17.300 6.700l1.400-1.400',
  moon: 'M19.500 14.500A8 8 0 0 1 9.500 4.500a8 8 0 1 0 10 10z',
  auto: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM12 4v16M12 8h6.500M12 12h8M12 16h6.500',
  folder: 'M3 6h7l2 2h9v11H3z',
  file: 'M7 3h7l4 4v14H7zM14 3v4h4',
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 2-2 5 5M15 10a1.200 1.200 0 1 0 0-2.400 1.200 1.200 0 0 0 0 2.400z',
  table: 'M4 5h16v14H4zM4 10h16M4 14.500h16M10 5v14',
  code: 'M9 7l-5 5 5 5M15 7l5 5-5 5',
  flag: 'M6 21V4h12l-2.500 4L18 12H6',
  external: 'M13 5h6v6M19 5l-9 9M17 14v5H5V7h5',
  stop: 'M7 7h10v10H7z',
  play: 'M8 5.500 18.500 12 8 18.500z',
  leave: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  pause: 'M9 6v12M15 6v12',
  help: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM9.700 9.700a2.400 2.400 0 1 1 3.300 2.200c-.700.300-1 .800-1 1.500v.300M12 16.300v.2',
  lock: 'M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3',
} as const

export type IconName = keyof typeof STROKES

/** Decorative icon next to text; hidden from screen readers. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={STROKES[name]} />
    </svg>
  )
}
