/// What an assistant is told of the session in whose room it is.
public struct SessionBriefing: Sendable, Hashable, Codable {
    public var sessionId: String
    /// Where the user talks: `carplay`, `phone`, `web`, ….
    public var context: String
    /// What the app wanted the assistant to know, as the app wrote it.
    public var clientContext: String?
    /// Of earlier sessions of the same user, newest first. Nil if there are none that may be told.
    public var pastSummaries: [PastSummary]?

    public init(sessionId: String, context: String, clientContext: String? = nil, pastSummaries: [PastSummary]? = nil) {
        self.sessionId = sessionId
        self.context = context
        self.clientContext = clientContext
        self.pastSummaries = pastSummaries
    }
}

/// What an earlier session was about.
public struct PastSummary: Sendable, Hashable, Codable {
    public var title: String
    public var summary: String
    /// Seconds since 1970.
    public var endedAt: Int64

    public init(title: String, summary: String, endedAt: Int64) {
        self.title = title
        self.summary = summary
        self.endedAt = endedAt
    }
}

extension [PastSummary] {
    /// The first of these, as many as may be told: `ProtocolLimits.pastSummariesMax`, and `pastSummariesBytesMax` as a JSON array. Behind the
    /// first that does not fit none is told, so that what is told has no gap.
    package func fitting() throws -> [PastSummary] {
        var bytes = "[]".utf8.count
        var fitting: [PastSummary] = []
        for summary in prefix(ProtocolLimits.pastSummariesMax) {
            bytes += try JSON.encode(summary, names: .snakeCase).count + (fitting.isEmpty ? 0 : 1)
            guard bytes <= ProtocolLimits.pastSummariesBytesMax else { break }
            fitting.append(summary)
        }
        return fitting
    }
}
