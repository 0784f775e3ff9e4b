internal import Foundation
package import Wire

/// A call in the history of one of its members, as that member left it.
package struct CallLogEntry: Sendable, Hashable, Codable {
    /// Another member, or the one whose history this is, with its status at that time.
    package struct Member: Sendable, Hashable, Codable {
        package var party: CallParty
        package var status: CallStatus

        package init(party: CallParty, status: CallStatus) {
            self.party = party
            self.status = status
        }
    }

    package var id: CallID
    package var caller: CallParty
    /// As the caller gave it; may be empty.
    package var callerName: String
    /// The status of the member when it left.
    package var status: CallStatus
    package var members: [Member]
    /// When the member called or was called.
    package var startedAt: WallTime
    /// Nil if it never talked.
    package var answeredAt: WallTime?
    package var endedAt: WallTime

    package init(
        id: CallID, caller: CallParty, callerName: String, status: CallStatus, members: [Member], startedAt: WallTime,
        answeredAt: WallTime?, endedAt: WallTime
    ) {
        self.id = id
        self.caller = caller
        self.callerName = callerName
        self.status = status
        self.members = members
        self.startedAt = startedAt
        self.answeredAt = answeredAt
        self.endedAt = endedAt
    }
}

package struct CallLogPage: Sendable, Hashable {
    /// The last ended first.
    package var entries: [CallLogEntry]
    /// The cursor of the next page; nil at the end.
    package var next: TimeCursor?
}
