/** Styles are the bundler's. */
declare module '*.css'
