import Backend
import Engine
import Testing
import Wire

/// The coordinator ignores reports from the former homes of rooms.
struct RoomFencesTests {
    private static let call = CallID(text: "CA_1")
    private static let (ann, agent) = (Identity(text: "ann"), Identity(text: "assistant:a"))
    private static let start = Instant(nanoseconds: 1)

    private static func epoch(_ number: UInt64, _ claim: UInt64 = 1) -> RoomEpoch { RoomEpoch(number: number, claim: claim) }

    private static func change(_ change: CallRoomChange, _ epoch: RoomEpoch?) -> NodeMessage {
        .calls(.room(call, change, isLoss: false, epoch: epoch))
    }

    private func admits(_ fences: inout RoomFences, _ message: NodeMessage, at now: Instant = start) -> Bool {
        guard let report = message.report else { return true }
        return fences.admit(report, at: now)
    }

    @Test func formerHomeDoesNotEndACallThatGoesOnAtAnotherNode() {
        var fences = RoomFences()
        #expect(admits(&fences, Self.change(.joined(Self.ann), Self.epoch(1))))
        #expect(admits(&fences, Self.change(.joined(Self.ann), Self.epoch(2))), "another node has taken the room over")
        // The partition heals.
        #expect(!admits(&fences, Self.change(.left(Self.ann), Self.epoch(1))))
        #expect(!admits(&fences, Self.change(.ended, Self.epoch(1))))
        #expect(admits(&fences, Self.change(.ended, Self.epoch(2))))
    }

    @Test func announcementOfTheNewHomeToDispatchCountsForCallsToo() {
        let room = CallInfo.room(of: Self.call)
        let announcements: [DispatchServiceMessage] = [
            .roomOpened(room, [], epoch: Self.epoch(2)), .roomIsOpen(room, missing: [], present: [], epoch: Self.epoch(2)),
            .attended(room, true, epoch: Self.epoch(2)), .agent(Self.agent, in: room, .present, epoch: Self.epoch(2)),
        ]
        let late: [NodeMessage] = [
            Self.change(.ended, Self.epoch(1)), .dispatch(.agent(Self.agent, in: room, .away, epoch: Self.epoch(1))),
            .dispatch(.attended(room, false, epoch: Self.epoch(1))), .dispatch(.roomEnded(room, epoch: Self.epoch(1))),
            .dispatch(.roomIsOpen(room, missing: [], present: [], epoch: Self.epoch(1))),
        ]
        for announcement in announcements {
            var fences = RoomFences()
            #expect(admits(&fences, .dispatch(announcement)))
            for message in late { #expect(!admits(&fences, message), "\(announcement) \(message)") }
        }
    }

    @Test func claimsOfTheSameNumberAreOrdered() {
        var fences = RoomFences()
        #expect(admits(&fences, Self.change(.joined(Self.ann), Self.epoch(2, 5))))
        #expect(!admits(&fences, Self.change(.ended, Self.epoch(2, 4))))
        #expect(admits(&fences, Self.change(.ended, Self.epoch(2, 5))))
    }

    @Test func roomsAndMessagesWithoutAnEpochAreNotFenced() {
        var fences = RoomFences()
        #expect(admits(&fences, Self.change(.joined(Self.ann), Self.epoch(2))))
        #expect(admits(&fences, .calls(.room(CallID(text: "CA_2"), .ended, isLoss: false, epoch: Self.epoch(1)))))
        #expect(Self.change(.ended, nil).report == nil, "a node of an earlier version has sent it")
        #expect(NodeMessage.dispatch(.roomEnded("r")).report == nil, "a session has ended, whose room may never have been open")
        #expect(NodeMessage.command(.close(.roomClosed), room: CallInfo.room(of: Self.call)).report == nil)
    }

    @Test func roomThatHasEndedMayBeginAnewWithALowerEpoch() {
        var fences = RoomFences()
        #expect(admits(&fences, .dispatch(.roomOpened("r", [], epoch: Self.epoch(7)))))
        #expect(admits(&fences, .dispatch(.roomEnded("r", epoch: Self.epoch(7)))))
        // The broker has lost its records.
        #expect(admits(&fences, .dispatch(.roomOpened("r", [], epoch: Self.epoch(1)))))
        #expect(admits(&fences, .dispatch(.attended("r", true, epoch: Self.epoch(1)))))
    }

    /// It was cut off while another node took the room over, and the room ended there.
    @Test func formerHomeOfARoomThatHasEndedIsIgnored() {
        let room = CallInfo.room(of: Self.call)
        var fences = RoomFences()
        #expect(admits(&fences, .dispatch(.roomOpened(room, [], epoch: Self.epoch(1)))))
        #expect(admits(&fences, .dispatch(.roomIsOpen(room, missing: [], present: [], epoch: Self.epoch(2)))))
        #expect(admits(&fences, .dispatch(.roomEnded(room, epoch: Self.epoch(2)))))
        let late: [NodeMessage] = [
            Self.change(.joined(Self.ann), Self.epoch(1)), Self.change(.ended, Self.epoch(1)),
            .dispatch(.roomIsOpen(room, missing: [], present: [], epoch: Self.epoch(1))),
            .dispatch(.attended(room, false, epoch: Self.epoch(1))), .dispatch(.roomEnded(room, epoch: Self.epoch(1))),
        ]
        for message in late { #expect(!admits(&fences, message, at: Self.start + .seconds(9 * 60)), "\(message)") }
        #expect(admits(&fences, .dispatch(.roomOpened(room, [], epoch: Self.epoch(3)))), "the name is used again")
    }

    @Test func endOfARoomIsForgottenAfterAWhileAndWhenManyOthersHaveEnded() {
        let away = { (room: String) in NodeMessage.dispatch(.attended(room, false, epoch: Self.epoch(1))) }
        var fences = RoomFences(ended: 10)
        for number in 0..<50 { #expect(admits(&fences, .dispatch(.roomEnded("r\(number)", epoch: Self.epoch(2))))) }
        #expect(!admits(&fences, away("r49")))
        #expect(admits(&fences, away("r0")), "others have ended since")
        for round in 1...2 {
            let later = Self.start + RoomFences.endedSpan * round
            #expect(admits(&fences, .dispatch(.roomEnded("other", epoch: Self.epoch(1))), at: later))
        }
        #expect(admits(&fences, away("r49"), at: Self.start + RoomFences.endedSpan * 2))
    }

    @Test func roomsThatHaveReportedNothingForLongAreForgotten() {
        var fences = RoomFences(keeping: 10)
        for number in 0..<50 { #expect(admits(&fences, .dispatch(.attended("r\(number)", true, epoch: Self.epoch(2))))) }
        #expect(!admits(&fences, .dispatch(.attended("r49", false, epoch: Self.epoch(1)))))
        #expect(admits(&fences, .dispatch(.attended("r0", false, epoch: Self.epoch(1)))), "there were too many other rooms")
        let nextDay = Self.start + .seconds(24 * 60 * 60)
        for _ in 1...2 { #expect(admits(&fences, .dispatch(.attended("other", true, epoch: Self.epoch(1))), at: nextDay)) }
    }

    @Test func messagesAreUnderstoodByNodesOfTheEarlierVersion() throws {
        // As the enumerations were before they had epochs.
        enum Earlier: Codable, Equatable {
            case calls(Calls)
            enum Calls: Codable, Equatable { case room(CallID, CallRoomChange, isLoss: Bool) }
        }
        let sent = try JSON.encode(Self.change(.left(Self.ann), Self.epoch(.max, .max)), names: .asDeclared)
        let understood = try JSON.decode(Earlier.self, from: sent, names: .asDeclared)
        #expect(understood == .calls(.room(Self.call, .left(Self.ann), isLoss: false)))
        #expect(try JSON.decode(NodeMessage.self, from: sent, names: .asDeclared).report?.epoch == Self.epoch(.max, .max))
        let received = try JSON.encode(understood, names: .asDeclared)
        #expect(try JSON.decode(NodeMessage.self, from: received, names: .asDeclared) == Self.change(.left(Self.ann), nil))
    }

    @Test func announcedParticipantsAreUnderstoodByNodesOfTheEarlierVersion() throws {
        // As the enumerations were before a participant could be reported on hold or muted.
        enum Earlier: Codable, Equatable {
            case calls(Calls)
            enum Calls: Codable, Equatable { case room(CallID, Change, isLoss: Bool, epoch: RoomEpoch? = nil) }
            enum Change: Codable, Equatable { case joined(Identity) }
        }
        let message = Self.change(.joined(Self.ann, media: CallMediaState(held: true, muted: false)), Self.epoch(1))
        let sent = try JSON.encode(message, names: .asDeclared)
        #expect(try JSON.decode(NodeMessage.self, from: sent, names: .asDeclared) == message)
        let understood = try JSON.decode(Earlier.self, from: sent, names: .asDeclared)
        #expect(understood == .calls(.room(Self.call, .joined(Self.ann), isLoss: false, epoch: Self.epoch(1))))
        let received = try JSON.encode(understood, names: .asDeclared)
        #expect(try JSON.decode(NodeMessage.self, from: received, names: .asDeclared) == Self.change(.joined(Self.ann), Self.epoch(1)))
    }
}
