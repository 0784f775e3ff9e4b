/// What a session can be taken away as.
package enum ExportFormat: String, Sendable, CaseIterable {
    case txt, json, vtt, srt, pdf

    package var contentType: String {
        switch self {
        case .txt: "text/plain; charset=utf-8"
        case .json: "application/json"
        case .vtt: "text/vtt; charset=utf-8"
        case .srt: "application/x-subrip; charset=utf-8"
        case .pdf: "application/pdf"
        }
    }
}
