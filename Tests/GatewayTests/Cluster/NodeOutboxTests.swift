import Backend
import Synchronization
import Testing
import Wire

@testable import Gateway

@Suite(.onOwnThread, .timeLimit(.minutes(1)))
struct NodeOutboxTests {
    /// Stands for the other node: answers batches as scripted, and keeps them.
    private final class Receiver: Sendable {
        let answers: Mutex<[NodeOutbox.Outcome]>
        let batches = Mutex<[NodeMessageBatch]>([])
        let endings = Mutex(0)

        /// - Parameter answers: to the first batches; later ones are accepted.
        init(_ answers: NodeOutbox.Outcome...) { self.answers = Mutex(answers) }

        init(always answer: NodeOutbox.Outcome) { answers = Mutex(Array(repeating: answer, count: 10_000)) }

        func outbox() -> NodeOutbox {
            NodeOutbox(sender: "n1/1") { [self] batch in
                batches.withLock { $0.append(batch) }
                return answers.withLock { $0.isEmpty ? .delivered : $0.removeFirst() }
            } ended: { [self] in
                endings.withLock { $0 += 1 }
            }
        }

        var messages: [NodeMessage] { batches.withLock { $0.flatMap(\.messages) } }
    }

    private func message(_ number: Int) -> NodeMessage { .dispatch(.roomEnded("r\(number)")) }

    @Test func messagesAreDeliveredInOrder() throws {
        let receiver = Receiver()
        let outbox = receiver.outbox()
        for number in 0..<1_000 { #expect(outbox.append(message(number))) }
        try Patience.until("all are delivered") { receiver.messages.count == 1_000 }
        #expect(receiver.messages == (0..<1_000).map(message))
        let numbers = receiver.batches.withLock { $0.map(\.number) }
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    }

    @Test func batchThatMayHaveArrivedIsRepeatedWithItsNumber() throws {
        let receiver = Receiver(.failed, .failed)
        let outbox = receiver.outbox()
        _ = outbox.append(message(1))
        try Patience.until("it is sent three times") { receiver.messages.count == 3 }
        #expect(receiver.batches.withLock { Set($0.map(\.number)).count } == 1)
    }

    @Test func messagesToANodeThatHasEndedAreTakenBack() throws {
        let receiver = Receiver(always: .ended)
        let outbox = receiver.outbox()
        #expect(outbox.append(message(1)))
        try Patience.until("the end is reported") { receiver.endings.withLock { $0 > 0 } }
        #expect(outbox.append(message(2)))
        #expect(outbox.takeBack() == [message(1), message(2)], "those under way come first")
        #expect(outbox.takeBack() == [] && !outbox.append(message(3)))
    }

    @Test func batchUnderWayIsTakenBackWithoutWaitingForItsAnswer() throws {
        let receiver = Receiver(always: .failed)
        let outbox = receiver.outbox()
        for number in 1...3 { #expect(outbox.append(message(number))) }
        try Patience.until("it is under way") { !receiver.messages.isEmpty }
        #expect(outbox.takeBack() == (1...3).map(message))
    }

    @Test func messagesAreDeliveredIfTheNodeRunsAfterAll() throws {
        let receiver = Receiver(.ended)
        let outbox = receiver.outbox()
        #expect(outbox.append(message(1)))
        try Patience.until("it is sent again") { receiver.messages.count == 2 }
        #expect(receiver.batches.withLock { Set($0.map(\.number)).count } == 1)
    }

    @Test func laterOutboxNumbersItsBatchesHigher() throws {
        let receiver = Receiver()
        for number in 1...2 {
            _ = receiver.outbox().append(message(number))
            try Patience.until("it is delivered") { receiver.messages.count == number }
        }
        let numbers = receiver.batches.withLock { $0.map(\.number) }
        #expect(numbers[0] < numbers[1])
    }

    @Test func unknownMessagesOfALaterVersionAreIgnored() {
        let batch = NodeMessageBatch(sender: "n1/1", number: 7, messages: [message(1)])
        let text = String(decoding: batch.bytes, as: UTF8.self)
        let later = text.replacing("\"messages\":[", with: "\"messages\":[{\"later\":{\"_0\":1}},")
        let read = NodeMessageBatch(Array(later.utf8))
        #expect(later != text && read?.number == 7 && read?.messages == [message(1)])
        #expect(NodeMessageBatch(Array("{}".utf8)) == nil)
    }
}
