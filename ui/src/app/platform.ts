/**
 * Whether notices are shown that lead to a session: the desktop's own service does that, which other systems than Linux
 * do not have. There the icon of the app counts what waits.
 */
export const hasNotices = (agent = navigator.userAgent): boolean => /linux|x11/i.test(agent);
