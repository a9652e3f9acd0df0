"""What makes a DQN of two players fail, each mistake made on purpose."""
