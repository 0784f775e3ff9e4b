enum HTMLReport {
    static func page(_ report: RunReport) -> String { "" }
}
