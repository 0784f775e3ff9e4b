import Foundation
import Synchronization
import Testing
import Wire

@testable import Sockets

@Suite(.timeLimit(.minutes(1)))
struct MailboxTests {
    private struct Letter: Sendable {
        let sender: Int
        let number: Int
    }

    /// A loop's owner that only reads its mail.
    private final class Reader: SocketDelegate {
        let mailbox: Mailbox<Letter>
        let total: Int
        var loop: Loop?
        var letters: [Letter] = []
        var turns = 0
        private var inbox: [Letter] = []

        init(_ mailbox: Mailbox<Letter>, total: Int) {
            self.mailbox = mailbox
            self.total = total
        }

        func woken() {
            turns += 1
            mailbox.drain(into: &inbox)
            letters += inbox
            inbox.removeAll(keepingCapacity: true)
            if letters.count >= total { loop?.stop() }
        }

        func opened(_ connection: Connection) {}
        func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {}
        func received(text message: UnsafeRawBufferPointer, from connection: Connection) {}
        func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {}
        func writable(_ connection: Connection) {}
        func closed(_ connection: Connection, _ end: ConnectionEnd) {}
        func timerRang() { loop?.stop() }
    }

    /// Runs a loop on a thread of its own until all letters have come, or for `span`.
    private func read(_ total: Int, from mailbox: Mailbox<Letter>, within span: Duration = .seconds(60)) async throws -> (
        letters: [Letter], turns: Int
    ) {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                do {
                    let reader = Reader(mailbox, total: total)
                    let loop = try Loop(settings: LoopSettings(), delegate: reader)
                    reader.loop = loop
                    loop.wake(at: loop.now + span)
                    loop.run(wokenBy: mailbox)
                    continuation.resume(returning: (reader.letters, reader.turns))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    @Test func nothingIsLostAndEachSendersOrderStays() async throws {
        let mailbox = Mailbox<Letter>()
        let (senders, each) = (8, 20_000)
        for sender in 0..<senders {
            Thread.detachNewThread {
                for number in 0..<each { mailbox.post(Letter(sender: sender, number: number)) }
            }
        }
        let (letters, turns) = try await read(senders * each, from: mailbox)
        #expect(letters.count == senders * each)
        for sender in 0..<senders {
            let areInOrder = letters.filter { $0.sender == sender }.map(\.number) == Array(0..<each)
            #expect(areInOrder)
        }
        #expect(turns < letters.count, "many letters take one turn")
    }

    @Test func whatWasPostedBeforeTheLoopRunsIsRead() async throws {
        let mailbox = Mailbox<Letter>()
        for number in 0..<3 { mailbox.post(Letter(sender: 0, number: number)) }
        #expect(try await read(3, from: mailbox).letters.map(\.number) == [0, 1, 2])
    }

    @Test func whatIsPostedAfterTheLoopHasEndedDoesNoHarm() async throws {
        let mailbox = Mailbox<Letter>()
        mailbox.post(Letter(sender: 0, number: 0))
        #expect(try await read(1, from: mailbox).letters.count == 1)
        for number in 0..<100 { mailbox.post(Letter(sender: 0, number: number)) }
        #expect(try await read(100, from: mailbox).letters.map(\.number) == Array(0..<100), "the next loop finds it")
    }

    @Test func loopsComeAndGoWhileOthersPost() async throws {
        let mailbox = Mailbox<Letter>()
        let isOver = Flag()
        Thread.detachNewThread {
            while !isOver.isSet {
                mailbox.post(Letter(sender: 0, number: 0))
                Thread.sleep(forTimeInterval: 0.000_01)
            }
        }
        for _ in 0..<20 { _ = try await read(10, from: mailbox) }
        isOver.set()
    }

    @Test func aFullMailboxKeepsRefusesOrDropsByTheMessage() {
        let mailbox = Mailbox<Letter>(limit: 3)
        for number in 0..<3 { #expect(!mailbox.post(droppable: Letter(sender: 0, number: number))) }
        #expect(mailbox.post(droppable: Letter(sender: 0, number: 3)), "the first that is dropped")
        #expect(!mailbox.post(droppable: Letter(sender: 0, number: 4)))
        #expect(!mailbox.post(Letter(sender: 1, number: 0), unlessMoreThan: 3))
        mailbox.post(Letter(sender: 2, number: 0))

        var letters: [Letter] = []
        #expect(mailbox.drain(into: &letters) == 2)
        #expect(letters.map(\.sender) == [0, 0, 0, 2] && letters.map(\.number) == [0, 1, 2, 0])
        letters = []
        mailbox.post(droppable: Letter(sender: 0, number: 5))
        #expect(mailbox.drain(into: &letters) == 0, "a loss is reported once")
        #expect(letters.map(\.number) == [5])
    }

    /// The loop repairs what depends on lost messages when it reads; until then no later one may arrive without them.
    @Test func nothingDroppableIsAcceptedAfterALoss() {
        let mailbox = Mailbox<Letter>(limit: 1)
        mailbox.post(droppable: Letter(sender: 0, number: 0))
        mailbox.post(droppable: Letter(sender: 0, number: 1))
        var letters: [Letter] = []
        #expect(mailbox.drain(into: &letters) == 1)
        #expect(!mailbox.post(droppable: Letter(sender: 0, number: 2)))
        #expect(mailbox.drain(into: &letters) == 0 && letters.map(\.number) == [2])
    }

    @Test func aTimerEndsALoopThatNobodyWritesTo() async throws {
        #expect(try await read(1, from: Mailbox(), within: .milliseconds(10)).letters.isEmpty)
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
