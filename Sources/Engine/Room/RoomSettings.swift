internal import Wire

/// Settings of one room, from the configuration or a token.
package struct RoomSettings: Sendable, Hashable {
    /// Time that a room stays open before the first join.
    package var emptyTimeout: Duration
    /// Time that a room stays open after the last participant left.
    package var departureTimeout: Duration
    /// Time in which a participant with a lost connection may resume; zero disables it.
    package var resumeWindow: Duration
    /// 0 means no limit. Dependent participants do not count.
    package var maxParticipants: Int
    package var metadata: String
    /// Silence of a participant after which it is reported.
    package var silenceLimit: Duration
    /// Which events are reported to services.
    package var reporting: RoomReporting
    /// Assistants to dispatch when the room opens; for services.
    package var agents: [AgentRequest] = []

    package init(
        emptyTimeout: Duration = .seconds(300), departureTimeout: Duration = .seconds(20),
        resumeWindow: Duration = .milliseconds(ProtocolLimits.resumeWindowMilliseconds), maxParticipants: Int = 0,
        metadata: String = "", silenceLimit: Duration = .seconds(10), reporting: RoomReporting = .nothing
    ) {
        self.emptyTimeout = emptyTimeout
        self.departureTimeout = departureTimeout
        self.resumeWindow = resumeWindow
        self.maxParticipants = maxParticipants
        self.metadata = metadata
        self.silenceLimit = silenceLimit
        self.reporting = reporting
    }
}

/// An assistant that a token asks for (`roomConfig.agents`).
package struct AgentRequest: Sendable, Hashable {
    package var assistant: String
    package var metadata: String

    package init(assistant: String, metadata: String = "") {
        self.assistant = assistant
        self.metadata = metadata
    }
}

/// Which events a room reports to services, and whether it is recorded. Fixed when the room is created.
package struct RoomReporting: Sendable, Hashable {
    /// Joins, departures, tracks, hold and recordings.
    package var reportsEvents: Bool
    /// Transcripts. Without this no text leaves the room.
    package var reportsText: Bool
    /// Records all tracks from the start.
    package var records: Bool
    /// Joins and departures of agents, for dispatch.
    package var reportsAgents = false

    package init(reportsEvents: Bool = true, reportsText: Bool = false, records: Bool = false) {
        self.reportsEvents = reportsEvents
        self.reportsText = reportsText
        self.records = records
    }

    package static let nothing = RoomReporting(reportsEvents: false)
    /// Everything except transcripts.
    package static let events = RoomReporting()
    package static let eventsAndText = RoomReporting(reportsText: true)
}
