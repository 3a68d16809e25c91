export function load(): Promise<Robot>;
